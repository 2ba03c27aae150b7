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
from autograder.runner.run import EnvironmentProblem, GraderProblem, Owners, Parts, Plan, Run, Surveyor, Where
from autograder.runner.timeouts import Timeouts
from autograder.runner.validation import as_number, as_observation

MOST_LOSSES = 3
"""How often the process that workers are forked from may end before the grading fails."""

EVENTS_OF_CHECKS = frozenset({"begin", "traced", "observed", "raised"})

Owner = tuple[str, str]
"""An exercise, and the function or class in it that a check is about."""

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
        owners: Owners,
        exact: bool = False,
    ) -> None:
        """`parts` has the exercises that are not run once an exercise they need has timed out.

        `owners` has the function or class that each check is about: its time and its ends cost no other one a check.
        Without `survey` the worker reports no syntax.
        """
        self.run = run
        self.patience = patience
        self.limits = patience.limits
        self.survey = survey
        self.parts = parts
        self.owners = owners
        self.exact = exact
        self.loading = False
        self.plan = plan
        self.worker: WorkerProcess | None = None
        self.time_limit = 0.0
        self.spent: dict[Owner, float] = {}
        self.importing = False
        self.last: Owner | None = None
        self.announcing = 0.0
        self.at: Where | None = None
        self.seen: set[tuple[object, ...]] = set()
        self.untouched = False
        self.careful = False
        self.progress = 0
        self.progress_at_death = -1
        self.deaths: dict[Owner, int] = {}
        self.losses = 0
        self.killed: set[Where | None] = set()

    def receive(self, worker: WorkerProcess) -> End | WorkerFailure | None:
        """Read answers until the plan is done; return None, or why the worker ended before."""
        self.at = None
        self.seen.clear()
        self.loading = self.importing = False
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
        """Return the next answer, or the end of the worker. The wait counts as time of a function, if in time."""
        began, running = time.monotonic(), self.at if self.loading else None
        if running is None:  # only the kit's own code runs yet, and on a cold disk it loads libraries slowly
            is_first = self.untouched and self.at is None
            self.time_limit = START_SECONDS if is_first else self.limits.wall_seconds
        else:
            self.time_limit = self.patience.import_seconds if running[1] is None else self.patience.check_seconds
        event = worker.next_event(self.time_limit)
        self.announcing, self.last = 0.0, None
        if running is not None and not isinstance(event, End) and event["event"] in EVENTS_OF_CHECKS:
            # An import is announced, and has a limit of its own: its time is that of no check.
            took = 0.0 if self.importing and event["event"] == "begin" else time.monotonic() - began
            self.last = self._owner(running[0], event.get("check"))
            self.spent[self.last] = self.spent.get(self.last, 0.0) + took
            self.announcing = took if event["event"] == "begin" else 0.0
            self.importing = False
        return event

    def _owner(self, exercise: str, check: object) -> Owner:
        """Return the function or class that a check is about; a check of a whole file has none."""
        return exercise, self.owners.get(exercise, {}).get(str(check), "")

    def _rest(self, owner: Owner) -> list[Key]:
        """Return the trials of the checks of a function that are left."""
        return [key for key in self.plan.get(owner[0], ()) if self._owner(owner[0], key[0]) == owner]

    def _is_over_time(self) -> bool:
        """Say whether the checks of a function have taken too long in all, and settle the rest of them if so."""
        most, owner = self.patience.function_seconds, self.last
        if owner is None or self.spent[owner] <= most or not (rest := self._rest(owner)):
            return False
        for key in rest:
            self._put(owner[0], key, WorkerFailure("timeout", sentences.function_over_time(owner[1], most), ran=False))
        self.at = None
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
                self.loading = self.importing = True
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
        # The processor time of an import is limited so that its wall time ends first, unless several threads run.
        is_wall = timed_out or self.importing
        wall, cpu = sentences.over_wall_time(self.time_limit), sentences.over_cpu_time(self.limits.cpu_seconds)
        sentence = wall if is_wall else cpu
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
        if self.at is not None and self.at[1] is not None:
            owner = self._owner(self.at[0], self.at[1][0])
            self.spent[owner] = self.spent.get(owner, 0.0) - self.announcing
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
            self.patience.time_out(importing=self.importing)

    def _settle_end(self, exercise: str, key: Key | None, died: WorkerFailure) -> None:
        """Settle the check that ended the worker; all of a function if too many of its checks did, or the exercise."""
        if key is None:
            self._settle_exercise(exercise, replace(died, at_import=True))
            return
        for trial in [trial for trial in self.plan[exercise] if trial[0] == key[0]]:
            self._put(exercise, trial, died)
        owner = self._owner(exercise, key[0])
        self.deaths[owner] = self.deaths.get(owner, 0) + 1
        if self.deaths[owner] >= self.patience.most_deaths:
            given_up = sentences.function_given_up(owner[1], self.deaths[owner], self._stopped_in(owner, died))
            for trial in self._rest(owner):
                self._put(exercise, trial, WorkerFailure(died.status, given_up, ran=False))

    def _stopped_in(self, owner: Owner, died: WorkerFailure) -> str | None:
        """Return the other function of the exercise that a check of a function stopped in, if it has checks too."""
        stopped = (died.place.function if died.place is not None else None) or ""
        names = sorted(set(self.owners.get(owner[0], {}).values()) - {owner[1], ""})
        return next((name for name in names if f"{stopped}.".startswith(f"{name}.")), None)

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
