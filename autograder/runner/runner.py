"""Run the probes on a submission in worker processes, and turn their answers, or their ends, into outcomes."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from autograder import ending
from autograder.checks.trials import Key, column_of, derived_seed
from autograder.course.suite import Suite
from autograder.runner.attempt import Attempt
from autograder.runner.ends import is_own_fault
from autograder.runner.outcomes import Survey, WorkerFailure, read_edits, read_survey
from autograder.runner.process import End, WorkerProcess
from autograder.runner.run import (
    Cancelled,
    CourseProblem,
    EnvironmentProblem,
    GraderProblem,
    Owners,
    Parts,
    Plan,
    Probes,
    Run,
    Where,
)
from autograder.runner.timeouts import Timeouts, on_device
from autograder.runner.worker_handle import SpawnedWorker, WorkerHandle

if TYPE_CHECKING:
    from autograder.edits.guides import Clues
    from autograder.edits.text import Edit

__all__ = ["Cancelled", "CourseProblem", "EnvironmentProblem", "GraderProblem", "Plan", "Run", "Runner", "Where"]

OF_TRUSTED: Mapping[str, Any] = {"surveys": False, "forbidden": {}}
"""What the job of a trusted program has: nothing is forbidden to it."""


class Runner:
    """Runs programs one after another. With `shared` they use one worker; else each gets a fresh one, killed after it.

    Only programs that may affect each other share a worker: the course's own, or the exercises of one submission.
    `start` starts a worker, if not a plain process on this machine. Of the runners that share `slots`, a semaphore, as
    many run a job at a time as it has.
    """

    def __init__(
        self,
        suite: Suite,
        *,
        seed: int,
        device: str = "cpu",
        shared: bool = False,
        start: Callable[[], WorkerHandle] | None = None,
        slots: AbstractContextManager[object] | None = None,
    ) -> None:
        self.suite = suite
        self.start = start or partial(SpawnedWorker, suite.course.libraries)
        self._slots = slots or nullcontext()
        self._surveys: dict[tuple[str, bytes], Survey] = {}
        self.seed = seed
        self.device = device
        self.shared = shared
        self.limits = on_device(suite.course.limits, device)
        self._worker: WorkerProcess | None = None
        self._spare: WorkerProcess | None = None
        self._attempt: Attempt | None = None
        self._cancelled = False
        self._lock = threading.Lock()

    @property
    def at(self) -> "Where | None":
        """The exercise that runs now, and the trial of a check in it if one has begun."""
        attempt = self._attempt
        return attempt.at if attempt is not None else None

    @property
    def ready(self) -> bool:
        """Whether there is a worker that has loaded its libraries and answered."""
        worker = self._worker
        return worker is not None and worker.ready

    def prepare(self) -> None:
        """Start a worker now, so that it is ready for the first program. Raises `Cancelled` after `cancel`."""
        with self._lock:
            if self._cancelled:
                raise Cancelled
            if self._worker is None:
                self._worker, self._spare = self._spare or self._start_worker(), None

    def _start_worker(self) -> WorkerProcess:
        return WorkerProcess(self.start(), output_kib=self.suite.course.limits.output_kib)

    def _start_spare(self) -> None:
        """Let another worker start while one runs that is likely to time out. A forked worker needs no spare.

        Raises `Cancelled`.
        """
        with self._lock:
            if self._cancelled:
                raise Cancelled
            if self._spare is None and self._worker is not None and self._worker.fresh:
                self._spare = self._start_worker()

    def cancel(self) -> None:
        """Kill all workers and start no more: `run`, in another thread, then raises `Cancelled`."""
        with self._lock:
            self._cancelled = True
            for worker in (self._worker, self._spare):
                if worker is not None:
                    worker.kill()

    def close(self) -> None:
        """Kill all workers."""
        self._close_worker()
        with self._lock:
            spare, self._spare = self._spare, None
        if spare is not None:
            spare.close()

    def _close_worker(self) -> None:
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
        probes: Probes = "checks",
        reference_parts: Mapping[str, bytes] | None = None,
        patience: Timeouts | None = None,
        parts: Parts | None = None,
        anew: bool = False,
        prints: bool = False,
        trusted: bool = False,
    ) -> Run:
        """Run a plan on the files of one program; reference parts replace the contract's names in some of them.

        With `trace`, also record the trace of each trial. Pictures and steps, if the plan names such `probes`, get the
        inputs of the course's public seed. `patience` has the time-outs of the whole submission, `parts` the exercises
        that need not run once one they need has timed out. `anew` starts a fresh worker, `prints` keeps the output, and
        `trusted` forbids nothing. Raises `GraderProblem` or `EnvironmentProblem`: never the program's fault.
        """
        if anew:
            self._close_worker()
        left = {exercise: list(keys) for exercise, keys in plan.items() if keys}
        survey, patience = partial(self._survey, sources), patience or Timeouts(self.limits)
        reader, owners = None if trusted else survey, _owners(self.suite)
        attempt = Attempt(Run(), left, patience, reader, parts=parts or {}, owners=owners, exact=exact)
        self._attempt, seed = attempt, self.seed if probes == "checks" else self.suite.course.seed
        while attempt.plan:
            job = self._job(sources, attempt.plan, exact, trace, reference_parts or {}, seed)
            job |= {"probes": probes, "prints": prints, **patience.of_job, **(OF_TRUSTED if trusted else {})}
            if (end := self._run_job(attempt, job, plan)) is None:
                continue
            if trace and not exact and is_own_fault(end):
                attempt.note(end)
                break  # a trace only helps to explain a mistake, so one attempt is enough
            attempt.charge(end, attempt.run.log)
        self._attempt = None
        return attempt.run

    def repairs(self, source: str, lines: Sequence[int], most: int, clues: "Clues") -> "list[Edit]":
        """Return edits that may mend a program, the likeliest first; `lines` are suspected. None if that fails.

        A worker finds them, since it may take long, or too much memory, to read a program. Raises `Cancelled`.
        """
        self.prepare()
        assert self._worker is not None
        self._worker.send({"repairs": [source, list(lines), most, asdict(clues)]})
        while True:
            event = self._worker.next_event(self.limits.wall_seconds)
            if self._cancelled:
                raise Cancelled
            if isinstance(event, End):
                self._close_worker()
                return []
            if event["event"] == "ready":
                continue
            try:
                return read_edits(event, source, most)
            except (LookupError, TypeError, ValueError):
                self._close_worker()
                return []

    def _run_job(self, attempt: Attempt, job: dict[str, Any], plan: Plan) -> End | WorkerFailure | None:
        """Run a job in a worker; return how the worker ended, None if it answered to the end."""
        self.prepare()
        assert self._worker is not None
        with self._slots:
            self._worker.send(job, keeps_log=job["prints"])
            if attempt.patience.timeouts:
                self._start_spare()
            end = attempt.receive(self._worker)
        if end is not None:
            ending.hold()
        if self._cancelled:
            raise Cancelled
        attempt.run.add_log(self._worker.take_log(), plan)
        if end is not None or not self.shared:
            self._close_worker()
        return end

    def _survey(self, sources: Mapping[str, bytes], exercise: str, event: Mapping[str, Any]) -> Survey:
        """Return the first survey of a file, from a worker that had run none of the program; else read the event.

        The helpers depend on the reference parts of the run. No verdict depends on them.
        """
        survey, key = read_survey(event), (exercise, sources.get(f"{exercise}.py", b""))
        return replace(self._surveys.setdefault(key, survey), helpers=survey.helpers)

    def warm_up(self) -> dict[str, Any]:
        """Return a job that warms up a zygote: all checks on the course's reference parts, with its public seed."""
        parts = self.suite.reference_parts
        plan = self.suite.plan(exercise for exercise in self.suite.exercises if exercise.file in parts)
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
        course, parts = self.suite.course, self.suite.reference_parts
        absent = {other.file for other in course.others if other.file in parts and other.file not in sources}
        sizes = {exercise: course.sizes_of(course.exercise(exercise)) for exercise in plan}

        def trial(exercise: str, key: Key) -> list[Any]:
            return [*key, derived_seed(seed, exercise, *key), column_of(len(sizes[exercise]), seed, exercise, *key)]

        return {
            "sources": dict(sources),
            "reference_parts": {**{file: parts[file] for file in absent}, **reference_parts},
            "checks": dict(self.suite.sources),
            "plan": [[exercise, [trial(exercise, key) for key in keys]] for exercise, keys in plan.items()],
            "probes": "checks",
            "careful": False,
            "interrupt_seconds": None,
            "prints": False,
            "surveys": True,
            "sizes": {exercise: [dict(column) for column in columns] for exercise, columns in sizes.items()},
            "libraries": list(course.libraries),
            "device": self.device,
            "exact": exact,
            "trace": trace,
            "forbidden": {exercise.id: list(exercise.forbidden) for exercise in course.exercises},
            "limits": asdict(self.limits),
        }


def _owners(suite: Suite) -> Owners:
    """Return the function or class that each check is about."""
    return {exercise: {check.id: check.of or "" for check in checks} for exercise, checks in suite.checks.items()}
