"""Runs the probes on a submission in workers, and turns their answers, or their deaths, into outcomes."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from autograder import ending
from autograder.checks.trials import column_of, derived_seed
from autograder.course.suite import Suite
from autograder.runner.attempt import Attempt, is_own_fault
from autograder.runner.child import Child, Spawned
from autograder.runner.outcomes import Survey, read_survey
from autograder.runner.patience import Patience
from autograder.runner.process import WorkerProcess
from autograder.runner.run import Cancelled, EnvironmentProblem, GraderProblem, Parts, Plan, Run, Where

__all__ = ["Cancelled", "EnvironmentProblem", "GraderProblem", "Plan", "Run", "Runner", "Where"]


class Runner:
    """Runs programs one after another. With `shared` they have one worker; else each a fresh one, killed after.

    Only what may know and change each other shares a worker: the course's own programs, or one submission's exercises.
    `start` starts a worker.
    """

    def __init__(
        self,
        suite: Suite,
        *,
        seed: int,
        device: str = "cpu",
        shared: bool = False,
        start: Callable[[], Child] = Spawned,
    ) -> None:
        self.suite = suite
        self.start = start
        self._surveys: dict[tuple[str, bytes], Survey] = {}
        self.seed = seed
        self.device = device
        self.shared = shared
        self._worker: WorkerProcess | None = None
        self._spare: WorkerProcess | None = None
        self._attempt: Attempt | None = None
        self._cancelled = False
        self._lock = threading.Lock()

    @property
    def at(self) -> "Where | None":
        """What runs now: an exercise and the trial of a check in it, if one has begun."""
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
                self._worker, self._spare = self._spare or self._started(), None

    def _started(self) -> WorkerProcess:
        return WorkerProcess(self.start(), output_kib=self.suite.course.limits.output_kib)

    def _start_spare(self) -> None:
        """Have another worker load torch beside one that is likely to time out as well. A forked one is there at once.

        Raises `Cancelled`.
        """
        with self._lock:
            if self._cancelled:
                raise Cancelled
            if self._spare is None and self._worker is not None and self._worker.fresh:
                self._spare = self._started()

    def cancel(self) -> None:
        """Kill what runs, and start nothing any more: `run`, which is in another thread, raises `Cancelled`."""
        with self._lock:
            self._cancelled = True
            for worker in (self._worker, self._spare):
                if worker is not None:
                    worker.kill()

    def close(self) -> None:
        """Kill what still runs."""
        self._let_go()
        with self._lock:
            spare, self._spare = self._spare, None
        if spare is not None:
            spare.close()

    def _let_go(self) -> None:
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
        patience: Patience | None = None,
        parts: Parts | None = None,
        anew: bool = False,
    ) -> Run:
        """Run a plan on the files of one program, with reference parts for the contract's names of some.

        With `trace`, also what each trial computes on its way. With `pictures` the plan names pictures, not checks, and
        their inputs are always those of the course's public seed. `patience` is that of the submission, if the plan is
        not all there is of it. `parts` says which exercises need not be run once one they need has timed out. With
        `anew` the worker has run nothing before.

        Raises `GraderProblem` or `EnvironmentProblem`, which are no fault of the program's.
        """
        if anew:
            self._let_go()
        run = Run()
        left = {exercise: list(keys) for exercise, keys in plan.items() if keys}
        patience = patience or Patience(self.suite.course.limits)
        known = partial(self._survey, sources)
        attempt = Attempt(run, left, patience, known, parts=parts or {}, exact=exact)
        self._attempt = attempt
        while attempt.plan:
            self.prepare()
            assert self._worker is not None
            seed = self.suite.course.seed if pictures else self.seed
            job = self._job(sources, attempt.plan, exact, trace, reference_parts or {}, seed)
            self._worker.send({**job, "pictures": pictures, "careful": patience.careful})
            if patience.timeouts:
                self._start_spare()
            end = attempt.listen(self._worker)
            if end is not None:
                ending.hold()
            if self._cancelled:
                raise Cancelled
            run.log = run.log or self._worker.log
            if end is not None or not self.shared:
                self._let_go()
            if end is not None and trace and not exact and is_own_fault(end):
                attempt.note(end)
                break  # tracing is help, and this program does not want any
            if end is not None:
                attempt.survive(end, run.log)
        self._attempt = None
        return run

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
