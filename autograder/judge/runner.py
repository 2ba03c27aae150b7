"""Runs the probes on a submission in workers, and turns their answers, or their deaths, into outcomes."""

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from autograder import ending
from autograder.checks.draws import column_of, derived_seed
from autograder.judge.attempt import Attempt, Cancelled, EnvironmentProblem, GraderProblem, Plan, Run, Where
from autograder.judge.child import Child, Spawned
from autograder.judge.outcomes import Survey, read_survey
from autograder.judge.process import WorkerProcess
from autograder.judge.suite import Suite

__all__ = ["Cancelled", "EnvironmentProblem", "GraderProblem", "Plan", "Run", "Runner", "Where"]


class Runner:
    """Runs programs one after another. With `shared` they have one worker; else each a fresh one, killed after.

    Only what may know and change each other shares a worker: the course's own programs, or one submission's exercises.
    `start` starts a worker. What is not run `seconds` after the first run began has timed out.
    """

    def __init__(
        self,
        suite: Suite,
        *,
        seed: int,
        device: str = "cpu",
        shared: bool = False,
        start: Callable[[], Child] = Spawned,
        seconds: float | None = None,
    ) -> None:
        self.suite = suite
        self.start = start
        self.seconds = seconds
        self._until: float | None = None
        self._surveys: dict[tuple[str, bytes], Survey] = {}
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
                self._worker = WorkerProcess(self.start(), output_kib=self.suite.course.limits.output_kib)

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
        reference_parts: Mapping[str, bytes] | None = None,
    ) -> Run:
        """Run a plan on the files of one program, with reference parts for the contract's names of some.

        With `trace`, also what each draw computes on its way. With `pictures` the plan names pictures, not checks, and
        their inputs are always those of the course's public seed.

        Raises `GraderProblem` or `EnvironmentProblem`, which are no fault of the program's.
        """
        run = Run()
        left = {exercise: list(keys) for exercise, keys in plan.items() if keys}
        attempt = Attempt(run, left, self.suite.course.limits, self._seconds_left, partial(self._survey, sources))
        self._attempt = attempt
        while attempt.plan:
            if self._seconds_left() <= 0:
                attempt.give_up()
                break
            self.prepare()
            assert self._worker is not None
            seed = self.suite.course.seed if pictures else self.seed
            job = self._job(sources, attempt.plan, exact, trace, reference_parts or {}, seed)
            self._worker.send({**job, "pictures": pictures, "careful": attempt.careful})
            end = attempt.listen(self._worker)
            if end is not None:
                ending.hold()
            if self._cancelled:
                raise Cancelled
            run.log = run.log or self._worker.log
            if end is not None or not self.shared:
                self.close()
            if end is not None:
                attempt.survive(end, run.log)
        self._attempt = None
        return run

    def _seconds_left(self) -> float:
        """Return for how long runs may go on (s)."""
        if self.seconds is None:
            return math.inf
        if self._until is None:
            self._until = time.monotonic() + self.seconds
        return self._until - time.monotonic()

    def _survey(self, sources: Mapping[str, bytes], exercise: str, event: Mapping[str, Any]) -> Survey:
        """Return what is known of a file: what was said of it first, when its worker had run nothing yet."""
        known = exercise, sources.get(f"{exercise}.py", b"")
        if known not in self._surveys:
            self._surveys[known] = read_survey(event)
        return self._surveys[known]

    def warm_up(self) -> dict[str, Any]:
        """Return a job for a zygote: the course's reference parts, under all the checks on them.

        Its inputs are those of the course's public seed.
        """
        parts = self.suite.reference_parts
        plan = self.suite.plan(each for each in self.suite.exercises if each.file in parts)
        return self._job({}, plan, False, False, parts, self.suite.course.seed)

    def _job(
        self,
        sources: Mapping[str, bytes],
        plan: Plan,
        exact: bool,
        trace: bool,
        reference_parts: Mapping[str, bytes],
        seed: int,
    ) -> dict[str, Any]:
        course, columns = self.suite.course, len(self.suite.course.sizes)
        return {
            "sources": dict(sources),
            "reference_parts": dict(reference_parts),
            "checks": dict(self.suite.sources),
            "plan": [
                [
                    exercise,
                    [
                        [*key, derived_seed(seed, exercise, *key), column_of(columns, seed, exercise, *key)]
                        for key in keys
                    ],
                ]
                for exercise, keys in plan.items()
            ],
            "pictures": False,
            "careful": False,
            "sizes": [dict(column) for column in course.sizes],
            "device": self.device,
            "exact": exact,
            "trace": trace,
            "forbidden": {each.id: list(each.forbidden) for each in course.exercises},
            "limits": asdict(course.limits),
        }
