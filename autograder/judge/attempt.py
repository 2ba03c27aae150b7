"""One plan on one program: what its workers answer, event by event, and whom their deaths are charged to."""

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.course import Limits
from autograder.judge.obituary import OUT_OF_TIME, obituary
from autograder.judge.outcomes import Died, Key, Observed, Outcome, Survey, read_fault, read_frames
from autograder.judge.places.traces import Trace, read_trace
from autograder.judge.process import End, WorkerProcess

MOST_SECONDS = 1e6
"""No draw can have taken longer, and the sum of many is still a number."""

MOST_DEATHS = 2
"""So many draws of one exercise may end the process; then the rest of the exercise is not run."""

MOST_LOSSES = 3
KILLED = -int(getattr(signal, "SIGKILL", 9))

NOT_RUN = f"Not run: {MOST_DEATHS} earlier checks of this exercise had to be stopped, or ended the process."

NO_TIME_LEFT = "Not run: the checks before this one used up the time that a whole submission may take."

UNREAD = "Your file is built so deep, or so large, that its syntax cannot be looked at: write it in smaller steps."


class EnvironmentProblem(Exception):
    """This machine cannot run the checks; the message says what to do."""


class GraderProblem(Exception):
    """The kit itself failed; never the student's fault."""


class Cancelled(Exception):
    """A run was given up: nobody waits for it any more."""


@dataclass
class Run:
    """The outcomes of one program, by exercise and draw; `problem` says why there are none."""

    outcomes: dict[str, dict[Key, Outcome]] = field(default_factory=dict)
    surveys: dict[str, Survey] = field(default_factory=dict)
    traces: dict[str, dict[Key, Trace]] = field(default_factory=dict)
    log: str = ""
    problem: str | None = None

    def put(self, exercise: str, key: Key, outcome: Outcome) -> None:
        self.outcomes.setdefault(exercise, {})[key] = outcome


Plan = dict[str, list[Key]]
Where = tuple[str, Key | None]


Clock = Callable[[], float]
"""How many seconds are left for the whole submission."""

Surveyor = Callable[[str, Mapping[str, Any]], Survey]
"""What is known of the file of an exercise, or else what an event tells of it."""


class Attempt:
    """What is left of a plan, and what happened to the worker that was at it."""

    def __init__(self, run: Run, plan: Plan, limits: Limits, clock: Clock, known: Surveyor) -> None:
        self.run = run
        self.clock = clock
        self.known = known
        self.loading = False
        self.plan = plan
        self.limits = limits
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
        while True:
            event = worker.next_event(min(self.limits.wall_seconds, max(self.clock(), 1.0)))
            if isinstance(event, End):
                return event
            if event["event"] == "done" and not self.plan:
                return None
            try:
                if (died := self._take(event)) is not None:
                    return died
            except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
                return End("nonsense", detail=f"an answer that does not fit ({str(event['event'])[:40]})")

    def _take(self, event: Mapping[str, Any]) -> Died | None:
        self._only_once(event)
        match event["event"]:
            case "unusable" if self.at is None and self.untouched:
                raise EnvironmentProblem(str(event["message"]))
            case "ready" if self.at is None:
                pass
            case "load":
                self.loading = True
                self.at = (self._planned(event["exercise"]), None)
            case "read":
                self.at = (self._planned(event["exercise"]), None)
            case "surveyed":
                self._note_survey(event)
            case "unloadable":
                self._settle_exercise(self._planned(event["exercise"]), read_fault(event["fault"], at_import=True))
            case "begin" | "observed" | "raised" if event["exercise"] not in self.run.surveys:
                return Died("error", UNREAD)
            case "begin":
                self.at = (self._planned(event["exercise"]), self._key(event))
            case "traced":
                key = self._key(event)
                self.run.traces.setdefault(event["exercise"], {})[key] = read_trace(event)
            case "observed":
                self._settle(event, Observed(event["value"], _seconds(event)))
            case "raised":
                self._settle(event, read_fault(event["fault"], seconds=_seconds(event)))
            case "stuck":
                return Died("timeout", OUT_OF_TIME, next(iter(read_frames(event["frames"])), None))
            case other:
                raise ValueError(other)
        return None

    def _note_survey(self, event: Mapping[str, Any]) -> None:
        """Believe what is said of a file before any of the program has run; what is said later is refused."""
        if self.loading:
            raise ValueError(event["event"])
        exercise = self._planned(event["exercise"])
        self.run.surveys[exercise] = self.known(exercise, event)

    def _only_once(self, event: Mapping[str, Any]) -> None:
        """Refuse an answer that came before: one that repeats itself would never be done."""
        of_draw = ("check", "draw") if event["event"] not in ("load", "read", "surveyed") else ()
        once = tuple(event.get(part) for part in ("event", "exercise", *of_draw))
        if once in self.heard:
            raise ValueError(once)
        self.heard.add(once)

    def _planned(self, exercise: str) -> str:
        if exercise not in self.plan:
            raise ValueError(exercise)
        return exercise

    def _key(self, event: Mapping[str, Any]) -> Key:
        key = (event["check"], event["draw"])
        if key not in self.plan[self._planned(event["exercise"])]:
            raise ValueError(key)
        return key

    def _settle(self, event: Mapping[str, Any], outcome: Outcome) -> None:
        """Note how a draw ended: the one that was begun, or another whose beginning goes unsaid.

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

    def give_up(self) -> None:
        """Charge all that is left with the time that the program has used up."""
        for exercise in list(self.plan):
            self._settle_exercise(exercise, Died("timeout", NO_TIME_LEFT))

    def survive(self, end: End | Died, log: str) -> None:
        """Charge a death to the draw it happened in; what is left can then run in a fresh worker."""
        if isinstance(end, End) and (self._may_be_unheard(end) or self._may_be_an_accident(end)):
            return
        if self.at is None or self.at[0] not in self.plan:
            if self.progress == self.progress_at_death or (isinstance(end, End) and end.kind == "start"):
                raise GraderProblem(f"the worker ended before any check ran ({_words(end)}); it said: {log[-2000:]}")
            self.progress_at_death = self.progress
            return
        exercise, key = self.at
        if self._may_be_of_another(exercise, end) and self.progress != self.progress_at_death:
            self.progress_at_death = self.progress
            return
        died = end if isinstance(end, Died) else obituary(end, self.limits.output_kib)
        if key is None:
            self._settle_exercise(exercise, replace(died, at_import=True))
            return
        for each in [each for each in self.plan[exercise] if each[0] == key[0]]:
            self._put(exercise, each, died)
        self.deaths[exercise] = self.deaths.get(exercise, 0) + 1
        if self.deaths[exercise] >= MOST_DEATHS and exercise in self.plan:
            self._settle_exercise(exercise, Died(died.status, NOT_RUN))

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
        self.careful = self.careful or first
        return first

    def _may_be_of_another(self, exercise: str, end: End | Died) -> bool:
        """Whether what an earlier exercise left in the worker, a thread say, may have ended it: then it runs alone."""
        others = any(event == "load" and other != exercise for event, other, *_ in self.heard)
        return others and not (isinstance(end, Died) and end.place is not None)


def _words(end: End | Died) -> str:
    return (
        end.sentence
        if isinstance(end, Died)
        else f"{end.kind} {end.status if end.status is not None else ''} {end.detail}"
    )


def _seconds(event: Mapping[str, Any]) -> float:
    seconds = float(event["seconds"])
    if not 0 <= seconds <= MOST_SECONDS:
        raise ValueError(seconds)
    return seconds
