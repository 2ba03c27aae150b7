"""One plan on one program: what its workers answer, event by event, and whom their deaths are charged to."""

import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autograder.checks.trials import Key
from autograder.protocol import TooLarge
from autograder.protocol.bounds import MOST_SECONDS
from autograder.runner.outcomes import Died, Fault, Observed, Outcome, is_exhausted, read_fault, read_frames
from autograder.runner.patience import Patience
from autograder.runner.process import End, WorkerProcess
from autograder.runner.received import number, observation
from autograder.runner.run import EnvironmentProblem, GraderProblem, Parts, Plan, Run, Surveyor, Where
from autograder.runner.traces import read_trace
from autograder.runner.worker_exits import obituary, out_of_processor_time, out_of_time

MOST_DEATHS = 2
"""So many trials of one exercise may end the process; then the rest of the exercise is not run."""

MOST_LOSSES = 3
KILLED = -int(getattr(signal, "SIGKILL", 9))

NOT_RUN = f"Not run: {MOST_DEATHS} checks of this exercise timed out or ended the process."

UNREAD = "Your file is built so deep, or so large, that its syntax cannot be looked at: write it in smaller steps."


class Attempt:
    """What is left of a plan, and what happened to the worker that was at it."""

    def __init__(
        self, run: Run, plan: Plan, patience: Patience, known: Surveyor, *, parts: Parts, exact: bool = False
    ) -> None:
        """`parts` says what is not run any more once an exercise it needs has timed out."""
        self.run = run
        self.patience = patience
        self.limits = patience.limits
        self.known = known
        self.parts = parts
        self.exact = exact
        self.loading = False
        self.plan = plan
        self.worker: WorkerProcess | None = None
        self.waited_for = 0.0
        self.spent: dict[str, float] = {}
        self.at: Where | None = None
        self.heard: set[tuple[object, ...]] = set()
        self.untouched = False
        self.careful = False
        self.progress = 0
        self.progress_at_death = -1
        self.deaths: dict[str, int] = {}
        self.losses = 0
        self.killed: set[Where | None] = set()

    def listen(self, worker: WorkerProcess) -> End | Died | None:
        """Take answers until the plan is done (None), or the worker is (why)."""
        self.at = None
        self.heard.clear()
        self.loading = False
        self.untouched = worker.sent == 1
        self.careful = self.patience.careful
        self.worker = worker
        while True:
            event = self._awaited(worker)
            if isinstance(event, End):
                return event
            if event["event"] == "done" and not self.plan:
                return None
            try:
                if (died := self._take(event)) is not None:
                    return died
            except TooLarge as error:
                return End("large", detail=str(error))
            except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
                return End("nonsense", detail=f"an answer that does not fit ({str(event['event'])[:40]})")
            if self._is_spent():
                return End("silent")

    def _awaited(self, worker: WorkerProcess) -> Mapping[str, Any] | End:
        """Return the next answer, or the end of the worker. What comes in time counts as time of the exercise."""
        began, of = time.monotonic(), self.at if self.loading else None
        if of is None:  # only the kit's own code runs yet, and a new process is slow at first
            self.waited_for = self.limits.wall_seconds
        else:
            self.waited_for = self.patience.import_seconds if of[1] is None else self.patience.check_seconds
        event = worker.next_event(self.waited_for)
        if of is not None and not isinstance(event, End) and event["event"] != "stuck":
            self.spent[of[0]] = self.spent.get(of[0], 0.0) + time.monotonic() - began
        return event

    def _is_spent(self) -> bool:
        """Whether the exercise at hand has taken too long in all; then the rest of it is settled."""
        exercise = self.at[0] if self.at is not None else ""
        most = self.patience.exercise_seconds
        if self.spent.get(exercise, 0.0) <= most or exercise not in self.plan:
            return False
        self._settle_exercise(exercise, Died("timeout", f"Not run: the checks before it took {most:.3g} s in all."))
        return True

    def _take(self, event: Mapping[str, Any]) -> Died | None:
        self._only_once(event)
        match event["event"]:
            case "unusable" if self.at is None and self.untouched:
                raise EnvironmentProblem(str(event["message"]))
            case "ready" if self.at is None:
                pass
            case "load" if event["exercise"] == next(iter(self.plan), None):
                self.loading = True
                self.at = (self._planned(event["exercise"]), None)
                self._of_worker().loaded |= {event["exercise"]}
            case "read" if not self.loading:
                self.at = (self._planned(event["exercise"]), None)
            case "surveyed":
                self._note_survey(event)
            case "unloadable" if self._is_at(event["exercise"]):
                fault = read_fault(event["fault"], at_import=True)
                if self._may_lack_what_others_hold(fault):
                    return LACKING
                self._settle_exercise(self._planned(event["exercise"]), fault)
            case "begin" | "observed" | "raised" if event["exercise"] not in self.run.surveys:
                return Died("error", UNREAD)
            case "begin" if self._is_at(event["exercise"]):
                self.at = (self._planned(event["exercise"]), self._key(event))
            case "traced":
                key = self._key(event)
                self.run.traces.setdefault(event["exercise"], {})[key] = read_trace(event, sliced=self.exact)
            case "observed":
                self._settle(event, Observed(observation(event["value"]), number(event["seconds"], MOST_SECONDS)))
            case "raised":
                fault = read_fault(event["fault"], seconds=number(event["seconds"], MOST_SECONDS))
                if self._may_lack_what_others_hold(fault):
                    return LACKING
                self._settle(event, fault)
            case "stuck":
                return self._stuck(event)
            case other:
                raise ValueError(other)
        return None

    def _is_at(self, exercise: str) -> bool:
        """Whether an exercise is the one that was loaded last: the worker does one after another."""
        return self.loading and self.at is not None and self.at[0] == exercise

    def _stuck(self, event: Mapping[str, Any]) -> Died:
        waited = self._of_worker().fell_silent
        sentence = out_of_time(self.waited_for) if waited else out_of_processor_time(self.limits)
        return Died("timeout", sentence, next(iter(read_frames(event["frames"])), None))

    def _of_worker(self) -> WorkerProcess:
        assert self.worker is not None
        return self.worker

    def _note_survey(self, event: Mapping[str, Any]) -> None:
        """Believe what is said of a file before any of the program has run; what is said later is refused."""
        if self.loading:
            raise ValueError(event["event"])
        exercise = self._planned(event["exercise"])
        self.run.surveys[exercise] = self.known(exercise, event)

    def _only_once(self, event: Mapping[str, Any]) -> None:
        """Refuse an answer that came before: one that repeats itself would never be done."""
        of_draw = ("check", "trial") if event["event"] not in ("load", "read", "surveyed") else ()
        once = tuple(event.get(part) for part in ("event", "exercise", *of_draw))
        if once in self.heard:
            raise ValueError(once)
        self.heard.add(once)

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
        """Note how a trial ended: the one that was begun, or another whose beginning goes unsaid.

        That is one of the same check, or, where the worker was not asked to be careful, of the same exercise.
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

    def survive(self, end: End | Died, log: str) -> None:
        """Charge a death to the trial it happened in; what is left can then run in a fresh worker."""
        self.note(end)
        if self.at is not None and self.at[0] not in self.plan:
            return
        if isinstance(end, End) and (self._may_be_unheard(end) or self._may_be_an_accident(end)):
            return
        if self.at is None:
            if self.progress == self.progress_at_death or (isinstance(end, End) and end.kind == "start"):
                raise GraderProblem(f"the worker ended before any check ran ({_words(end)}); it said: {log[-2000:]}")
            self.progress_at_death = self.progress
            return
        exercise, key = self.at
        if self._is_beside_others(exercise):
            return
        died = end if isinstance(end, Died) else obituary(end, self.limits, self.waited_for)
        self._charge(exercise, key, died)
        if died.status == "timeout":
            self._spare_what_needs(exercise)

    def note(self, end: End | Died) -> None:
        """Count a time-out: from then on waits are shorter."""
        if _is_timeout(end):
            self.patience.time_out()

    def _charge(self, exercise: str, key: Key | None, died: Died) -> None:
        """Settle the check that died, or the exercise that did in its import or for the last time."""
        if key is None:
            self._settle_exercise(exercise, replace(died, at_import=True))
            return
        for each in [each for each in self.plan[exercise] if each[0] == key[0]]:
            self._put(exercise, each, died)
        self.deaths[exercise] = self.deaths.get(exercise, 0) + 1
        if self.deaths[exercise] >= MOST_DEATHS and exercise in self.plan:
            self._settle_exercise(exercise, Died(died.status, NOT_RUN))

    def _spare_what_needs(self, exercise: str) -> None:
        """Do not wait for what would hang in the same part once more: it is run with a reference part anyway."""
        for later in [each for each in self.plan if exercise in self.parts.get(each, ())]:
            self._settle_exercise(later, Died("timeout", f"Not run: {exercise} timed out, and this exercise uses it."))

    def _may_be_an_accident(self, end: End) -> bool:
        """Whether somebody else may have killed it, the system or a person: then what it was at is run once more."""
        if end.kind == "lost":
            self.losses += 1
            if self.losses > MOST_LOSSES:
                raise GraderProblem(f"the sandbox was lost {self.losses} times")
            return True
        again = end.kind == "exit" and end.status == KILLED and self.at not in self.killed
        self.killed.add(self.at)
        return again

    def _may_be_unheard(self, end: End) -> bool:
        """Whether it may have died in a check it had not told of: then what is left is run once more, carefully."""
        first = not self.careful and end.kind not in ("start", "lost")
        self.patience.careful = self.patience.careful or first
        return first

    def _is_beside_others(self, exercise: str) -> bool:
        """Whether the worker has run another exercise before: what that one holds may be what ended this one.

        Then it is run once more in a worker of its own, and that counts.
        """
        return bool(self._of_worker().loaded - {exercise})

    def _may_lack_what_others_hold(self, fault: Fault) -> bool:
        return is_exhausted(fault) and self.at is not None and self._is_beside_others(self.at[0])


LACKING = Died("memory", "Your code ran out of memory.")
"""How a worker ends for us in which an exercise may lack what another one holds. Nobody is charged with it."""


def is_own_fault(end: End | Died) -> bool:
    """Whether a worker ended by what the program said or did in it, and by nothing that somebody else may have done."""
    if isinstance(end, Died):
        return end is not LACKING
    return end.kind in ("nonsense", "large", "silent", "closed")


def _is_timeout(end: End | Died) -> bool:
    if isinstance(end, Died):
        return end.status == "timeout"
    return end.kind == "silent" or (end.kind == "exit" and end.status == -getattr(signal, "SIGXCPU", 24))


def _words(end: End | Died) -> str:
    return (
        end.sentence
        if isinstance(end, Died)
        else f"{end.kind} {end.status if end.status is not None else ''} {end.detail}"
    )
