"""Runs the probes on a submission in workers, and turns their answers, or their deaths, into outcomes."""

import math
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from autograder.judge.obituary import OUT_OF_TIME, obituary
from autograder.judge.outcomes import Died, Key, Observed, Outcome, Survey, read_fault, read_frames, read_survey
from autograder.judge.places.traces import Trace, read_trace
from autograder.judge.process import End, WorkerProcess
from autograder.judge.suite import Suite

MOST_DEATHS = 2
"""So many draws of one exercise may end the process; then the rest of the exercise is not run."""

NOT_RUN = f"Not run: {MOST_DEATHS} earlier checks of this exercise had to be stopped, or ended the process."


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


class Runner:
    """Runs programs one after another. With `shared` they have one worker; else each a fresh one, killed after.

    Only what may know and change each other shares a worker: the course's own programs, or one submission's exercises.
    """

    def __init__(self, suite: Suite, *, seed: int, device: str = "cpu", shared: bool = False) -> None:
        self.suite = suite
        self.seed = seed
        self.device = device
        self.shared = shared
        self._worker: WorkerProcess | None = None
        self._attempt: Attempt | None = None
        self._cancelled = False
        self._lock = threading.Lock()

    @property
    def at(self) -> "Where | None":
        """What runs now: an exercise and the draw of a check in it, if one has begun."""
        attempt = self._attempt
        return attempt.at if attempt is not None else None

    @property
    def ready(self) -> bool:
        """Whether there is a worker that has answered: it has loaded what it needs."""
        worker = self._worker
        return worker is not None and worker.ready

    def prepare(self) -> None:
        """Start a worker now, so that it is ready when the first program comes. Raises `Cancelled` after `cancel`."""
        with self._lock:
            if self._cancelled:
                raise Cancelled
            if self._worker is None:
                self._worker = WorkerProcess(output_kib=self.suite.course.limits.output_kib)

    def cancel(self) -> None:
        """Kill what runs, and start nothing any more: `run`, which is in another thread, raises `Cancelled`."""
        with self._lock:
            self._cancelled = True
            if self._worker is not None:
                self._worker.kill()

    def close(self) -> None:
        """Kill what still runs."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self,
        sources: Mapping[str, bytes],
        plan: Plan,
        *,
        exact: bool = False,
        trace: bool = False,
        pictures: bool = False,
        stand_ins: Mapping[str, bytes] | None = None,
    ) -> Run:
        """Run a plan on the files of one program, with stand-ins for the contract's names of some.

        With `trace`, also what each draw computes on its way. With `pictures` the plan names pictures, not checks, and
        their inputs are always those of the course's public seed.

        Raises `GraderProblem` or `EnvironmentProblem`, which are no fault of the program's.
        """
        run = Run()
        attempt = Attempt(run, {exercise: list(keys) for exercise, keys in plan.items() if keys}, self)
        self._attempt = attempt
        while attempt.plan:
            self.prepare()
            assert self._worker is not None
            job = self._job(sources, attempt.plan, exact, trace, stand_ins or {})
            self._worker.send({**job, "pictures": True, "seed": self.suite.course.seed} if pictures else job)
            end = attempt.listen(self._worker)
            if self._cancelled:
                raise Cancelled
            run.log = run.log or self._worker.log
            if end is not None or not self.shared:
                self.close()
            if end is not None:
                attempt.survive(end, run.log)
        self._attempt = None
        return run

    def _job(
        self, sources: Mapping[str, bytes], plan: Plan, exact: bool, trace: bool, stand_ins: Mapping[str, bytes]
    ) -> dict[str, Any]:
        course = self.suite.course
        return {
            "sources": dict(sources),
            "stand_ins": dict(stand_ins),
            "checks": dict(self.suite.sources),
            "plan": [[exercise, [list(key) for key in keys]] for exercise, keys in plan.items()],
            "pictures": False,
            "seed": self.seed,
            "sizes": [dict(column) for column in course.sizes],
            "device": self.device,
            "exact": exact,
            "trace": trace,
            "forbidden": {each.id: list(each.forbidden) for each in course.exercises},
            "limits": asdict(course.limits),
        }


class Attempt:
    """What is left of a plan, and what happened to the worker that was at it."""

    def __init__(self, run: Run, plan: Plan, runner: Runner) -> None:
        self.run = run
        self.plan = plan
        self.limits = runner.suite.course.limits
        self.at: Where | None = None
        self.heard: set[tuple[object, ...]] = set()
        self.untouched = False
        self.progress = 0
        self.progress_at_death = -1
        self.deaths: dict[str, int] = {}

    def listen(self, worker: WorkerProcess) -> End | Died | None:
        """Take answers until the plan is done (None), or the worker is (why)."""
        self.at = None
        self.heard.clear()
        self.untouched = worker.jobs == 1
        while True:
            event = worker.next_event(self.limits.wall_seconds)
            if isinstance(event, End):
                return event
            if event["event"] == "done" and not self.plan:
                return None
            try:
                if (died := self._take(event)) is not None:
                    return died
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
                return End("nonsense", detail=f"an answer that does not fit ({str(event['event'])[:40]})")

    def _take(self, event: Mapping[str, Any]) -> Died | None:
        self._only_once(event)
        match event["event"]:
            case "unusable" if self.at is None and self.untouched:
                raise EnvironmentProblem(str(event["message"]))
            case "ready" if self.at is None:
                pass
            case "load":
                self.at = (self._planned(event["exercise"]), None)
            case "loaded":
                self.run.surveys[self._planned(event["exercise"])] = read_survey(event)
            case "unloadable":
                self._settle_exercise(self._planned(event["exercise"]), read_fault(event["fault"], at_import=True))
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

    def _only_once(self, event: Mapping[str, Any]) -> None:
        """Refuse an answer that came before: one that repeats itself would never be done."""
        of_draw = ("check", "draw") if event["event"] not in ("load", "loaded") else ()
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
        exercise, key = event["exercise"], self._key(event)
        if self.at != (exercise, key):
            raise ValueError(key)
        self._put(exercise, key, outcome)
        self.at = (exercise, None)

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
        """Charge a death to the draw it happened in; what is left can then run in a fresh worker."""
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
    if not math.isfinite(seconds) or seconds < 0:
        raise ValueError(seconds)
    return seconds
