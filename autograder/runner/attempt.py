"""Run one plan on one program: read the workers' answers, event by event, and charge their ends to trials."""

import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autograder.checks.trials import Key
from autograder.messages import worker_ends as sentences
from autograder.protocol import TooLarge
from autograder.protocol.bounds import MOST_SECONDS
from autograder.runner.ends import STARVED, is_timeout, outcome_of_exit
from autograder.runner.outcomes import Fault, Observed, Outcome, WorkerFailure, is_exhausted, read_fault, read_frames
from autograder.runner.process import START_SECONDS, End, WorkerProcess
from autograder.runner.run import EnvironmentProblem, GraderProblem, Parts, Plan, Run, Surveyor, Where
from autograder.runner.timeouts import Timeouts
from autograder.runner.validation import as_number, as_observation

MOST_DEATHS = 2
"""How many checks of an exercise may end the process before the rest of it is not run."""

MOST_LOSSES = 3
"""How often the process that workers are forked from may end before the grading fails."""

KILLED = -int(getattr(signal, "SIGKILL", 9))


class Attempt:
    """The rest of a plan, and the state of the worker that runs it.

    `at` is the exercise and trial that runs now, `loading` is set once student code may have run, and `careful` if the
    worker announces every check. `untouched` is set while the worker is on its first job.
    """

    def __init__(
        self,
        run: Run,
        plan: Plan,
        patience: Timeouts,
        survey: Surveyor | None,
        *,
        parts: Parts,
        exact: bool = False,
    ) -> None:
        """`parts` has the exercises that are not run once an exercise they need has timed out.

        Without `survey` the worker reports no syntax.
        """
        self.run = run
        self.patience = patience
        self.limits = patience.limits
        self.survey = survey
        self.parts = parts
        self.exact = exact
        self.loading = False
        self.plan = plan
        self.worker: WorkerProcess | None = None
        self.time_limit = 0.0
        self.spent: dict[str, float] = {}
        self.announcing = 0.0
        self.at: Where | None = None
        self.seen: set[tuple[object, ...]] = set()
        self.untouched = False
        self.careful = False
        self.progress = 0
        self.progress_at_death = -1
        self.deaths: dict[str, int] = {}
        self.losses = 0
        self.killed: set[Where | None] = set()

    def receive(self, worker: WorkerProcess) -> End | WorkerFailure | None:
        """Read answers until the plan is done; return None, or why the worker ended before."""
        self.at = None
        self.seen.clear()
        self.loading = False
        self.untouched = worker.sent == 1
        self.careful = self.patience.careful
        self.worker, self.announcing = worker, 0.0
        while True:
            event = self._next_event(worker)
            if isinstance(event, End):
                return event
            if event["event"] == "done" and not self.plan:
                return None
            try:
                if (died := self._take(event)) is not None:
                    return died
            except TooLarge as error:
                return End("large", detail=str(error))
            except (LookupError, TypeError, ValueError, AttributeError, OverflowError):  # what hostile data may raise
                return End("malformed", detail=f"an invalid answer ({str(event['event'])[:40]})")
            if self._is_over_time():
                return End("timeout")

    def _next_event(self, worker: WorkerProcess) -> Mapping[str, Any] | End:
        """Return the next answer, or the end of the worker. The wait counts as time of the exercise, if in time."""
        began, running = time.monotonic(), self.at if self.loading else None
        if running is None:  # only the kit's own code runs yet, and on a cold disk it loads libraries slowly
            is_first = self.untouched and self.at is None
            self.time_limit = START_SECONDS if is_first else self.limits.wall_seconds
        else:
            self.time_limit = self.patience.import_seconds if running[1] is None else self.patience.check_seconds
        event = worker.next_event(self.time_limit)
        if running is not None and not isinstance(event, End) and event["event"] != "stuck":
            took = time.monotonic() - began
            self.spent[running[0]] = self.spent.get(running[0], 0.0) + took
            self.announcing = took if event["event"] == "begin" else 0.0
        return event

    def _is_over_time(self) -> bool:
        """Say whether the running exercise has taken too long in all, and settle the rest of it if so."""
        exercise, most = self.at[0] if self.at is not None else "", self.patience.exercise_seconds
        if self.spent.get(exercise, 0.0) <= most or exercise not in self.plan:
            return False
        self._settle_exercise(exercise, WorkerFailure("timeout", sentences.exercise_over_time(most), ran=False))
        return True

    def _take(self, event: Mapping[str, Any]) -> WorkerFailure | None:
        """Record one answer; return a reason to end the worker, if there is one.

        Raises an exception for an answer that an honest worker does not send at this point.
        """
        self._refuse_repetition(event)
        match event["event"]:
            case "unusable" if self.at is None and self.untouched:
                raise EnvironmentProblem(str(event["message"]))
            case "ready" if self.at is None:
                pass
            case "load" if event["exercise"] == next(iter(self.plan), None):
                self.loading = True
                self.at = (self._planned(event["exercise"]), None)
                self._current_worker().loaded |= {event["exercise"]}
            case "read" if not self.loading:
                self.at = (self._planned(event["exercise"]), None)
            case "surveyed":
                self._note_survey(event)
            case "unloadable" if self._is_at(event["exercise"]):
                return self._take_fault(event, read_fault(event["fault"], at_import=True))
            case "begin" | "observed" | "raised" if self.survey and event["exercise"] not in self.run.surveys:
                return WorkerFailure("error", sentences.UNREADABLE)
            case "begin" if self._is_at(event["exercise"]):
                self.at = (self._planned(event["exercise"]), self._key(event))
            case "traced":
                self._note_trace(event)
            case "observed":
                seconds = as_number(event["seconds"], MOST_SECONDS)
                self._settle(event, Observed(as_observation(event["value"]), seconds))
            case "raised":
                seconds = as_number(event["seconds"], MOST_SECONDS)
                return self._take_fault(event, read_fault(event["fault"], seconds=seconds))
            case "stuck":
                return self._stuck(event)
            case other:
                raise ValueError(other)
        return None

    def _note_trace(self, event: Mapping[str, Any]) -> None:
        from autograder.runner.traces import read_trace  # it takes NumPy, and few runs are traced

        key = self._key(event)
        self.run.traces.setdefault(event["exercise"], {})[key] = read_trace(event, sliced=self.exact)

    def _take_fault(self, event: Mapping[str, Any], fault: Fault) -> WorkerFailure | None:
        """Settle the trial, or the whole exercise, that raised; return `STARVED` if the exercise has to run alone."""
        if self._is_starved(fault):
            return STARVED
        if fault.at_import:
            self._settle_exercise(self._planned(event["exercise"]), fault)
        else:
            self._settle(event, fault)
        return None

    def _is_at(self, exercise: str) -> bool:
        """Say whether an exercise is the one loaded last: the worker runs one after another."""
        return self.loading and self.at is not None and self.at[0] == exercise

    def _stuck(self, event: Mapping[str, Any]) -> WorkerFailure:
        timed_out = self._current_worker().timed_out
        wall, cpu = sentences.over_wall_time(self.time_limit), sentences.over_cpu_time(self.limits.cpu_seconds)
        sentence = wall if timed_out else cpu
        return WorkerFailure("timeout", sentence, next(iter(read_frames(event["frames"])), None))

    def _current_worker(self) -> WorkerProcess:
        assert self.worker is not None
        return self.worker

    def _note_survey(self, event: Mapping[str, Any]) -> None:
        """Record a survey, which counts only before any of the program has run; raises ValueError later."""
        if self.loading or self.survey is None:
            raise ValueError(event["event"])
        exercise = self._planned(event["exercise"])
        self.run.surveys[exercise] = self.survey(exercise, event)

    def _refuse_repetition(self, event: Mapping[str, Any]) -> None:
        """Raise ValueError for an answer that came before: a worker that repeats itself would never finish."""
        of_trial = ("check", "trial") if event["event"] not in ("load", "read", "surveyed") else ()
        identity = tuple(event.get(part) for part in ("event", "exercise", *of_trial))
        if identity in self.seen:
            raise ValueError(identity)
        self.seen.add(identity)

    def _planned(self, exercise: str) -> str:
        if exercise not in self.plan:
            raise ValueError(exercise)
        return exercise

    def _key(self, event: Mapping[str, Any]) -> Key:
        key = (event["check"], event["trial"])
        if key not in self.plan[self._planned(event["exercise"])]:
            raise ValueError(key)
        return key

    def _settle(self, event: Mapping[str, Any], outcome: Outcome) -> None:
        """Record the outcome of a trial: the announced one, or one that a worker need not announce.

        Those are trials of the same check, and, if the worker is not careful, all trials of the same exercise.
        """
        exercise, key = event["exercise"], self._key(event)
        if self.at is None or self.at[0] != exercise:
            raise ValueError(key)
        if self.careful and (self.at[1] is None or self.at[1][0] != key[0]):
            raise ValueError(key)
        self._put(exercise, key, outcome)
        left = any(check == key[0] for check, _ in self.plan.get(exercise, ()))
        self.at = (exercise, key if left else None)

    def _put(self, exercise: str, key: Key, outcome: Outcome) -> None:
        self.run.put(exercise, key, outcome)
        self.progress += 1
        self.plan[exercise].remove(key)
        if not self.plan[exercise]:
            del self.plan[exercise]

    def _settle_exercise(self, exercise: str, outcome: Outcome) -> None:
        for key in list(self.plan[exercise]):
            self._put(exercise, key, outcome)

    def charge(self, end: End | WorkerFailure, log: str) -> None:
        """Charge the end of a worker to the trial that ran; the rest of the plan can then run in a fresh worker.

        Charges nobody, so that the trial runs again, if something else may have ended the worker.
        """
        self.note(end)
        if self.at is not None and self.at[0] not in self.plan:
            return
        # A worker that is not careful announces a check only once it hangs: that wait is the hanging check's.
        if self.at is not None:
            self.spent[self.at[0]] = self.spent.get(self.at[0], 0.0) - self.announcing
        if isinstance(end, End) and (self._may_be_unannounced(end) or self._may_be_an_accident(end)):
            return
        if self.at is None:
            if self.progress == self.progress_at_death or (isinstance(end, End) and end.kind == "start"):
                reason = _description(end)
                raise GraderProblem(f"the worker ended before any check ran ({reason}); its output: {log[-2000:]}")
            self.progress_at_death = self.progress
            return
        exercise, key = self.at
        if self._shares_worker(exercise):
            return
        died = end if isinstance(end, WorkerFailure) else outcome_of_exit(end, self.limits, self.time_limit)
        self._settle_end(exercise, key, died)
        if died.status == "timeout":
            self._settle_dependents(exercise)

    def note(self, end: End | WorkerFailure) -> None:
        """Count a time-out: later ones are shorter."""
        if is_timeout(end):
            self.patience.time_out()

    def _settle_end(self, exercise: str, key: Key | None, died: WorkerFailure) -> None:
        """Settle the check that ended the worker; the whole exercise if its import did, or too many checks did."""
        if key is None:
            self._settle_exercise(exercise, replace(died, at_import=True))
            return
        for trial in [trial for trial in self.plan[exercise] if trial[0] == key[0]]:
            self._put(exercise, trial, died)
        self.deaths[exercise] = self.deaths.get(exercise, 0) + 1
        if self.deaths[exercise] >= MOST_DEATHS and exercise in self.plan:
            given_up = sentences.exercise_given_up(MOST_DEATHS)
            self._settle_exercise(exercise, WorkerFailure(died.status, given_up, ran=False))

    def _settle_dependents(self, exercise: str) -> None:
        """Skip exercises that would hang in the same code again: they run with a reference part anyway."""
        for dependent in [later for later in self.plan if exercise in self.parts.get(later, ())]:
            self._settle_exercise(dependent, WorkerFailure("timeout", sentences.dependent_not_run(exercise), ran=False))

    def _may_be_an_accident(self, end: End) -> bool:
        """Say whether the system or a person may have killed the worker: then the trial runs once more."""
        if end.kind == "lost":
            self.losses += 1
            if self.losses > MOST_LOSSES:
                raise GraderProblem(f"the sandbox ended by itself {self.losses} times")
            return True
        again = end.kind == "exit" and end.status == KILLED and self.at not in self.killed
        self.killed.add(self.at)
        return again

    def _may_be_unannounced(self, end: End) -> bool:
        """Say whether the worker may have ended in a check it had not announced: then the rest runs carefully."""
        first = not self.careful and end.kind not in ("start", "lost")
        self.patience.careful = self.patience.careful or first
        return first

    def _shares_worker(self, exercise: str) -> bool:
        """Say whether the worker ran another exercise before, whose memory, threads or files may be to blame.

        Then the exercise runs again in a worker of its own, and only that run counts.
        """
        return bool(self._current_worker().loaded - {exercise})

    def _is_starved(self, fault: Fault) -> bool:
        """Say whether an exercise may lack memory, threads or files because another one in its worker holds them."""
        return is_exhausted(fault) and self.at is not None and self._shares_worker(self.at[0])


def _description(end: End | WorkerFailure) -> str:
    if isinstance(end, WorkerFailure):
        return end.sentence
    return f"{end.kind} {end.status if end.status is not None else ''} {end.detail}"
