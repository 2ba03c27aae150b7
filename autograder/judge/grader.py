"""Grades submissions: runs them in workers, compares them with the answer keys, and makes reports."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from autograder.answer_key import AnswerKey, Failures, Keys, open_keys
from autograder.checks import Check, Key
from autograder.course import Exercise, Suite
from autograder.results import ExerciseResult, Report, Status
from autograder.runner import Cancelled, GraderProblem, Runner
from autograder.sandbox import Isolation, process_isolation
from autograder.submission import Submission

from .marking import Marking, Remembered
from .verdict import OnOutcomes, Verdicts

if TYPE_CHECKING:
    from autograder.diagnosis import FindTraces
    from autograder.runner import RecordedTrace

    from .proving import Budget


LOG_KEPT = 4000
_ENDED: frozenset[Status] = frozenset({"pass", "fail", "error", "waits", "not_started"})
Found = TypeVar("Found")


class Grader:
    """Grades submissions of one suite under one seed. `grade` may be called from several threads.

    `evidence` puts the numbers of a difference into the report, what the code printed, and pictures of what passes:
    for self-checks, whose seed is public. With `remember` an earlier exercise whose files have not changed is not run
    again. With a `budget` the line of the first mistake is proved where a search within it succeeds. With `slots`, a
    semaphore, at most so many programs run at a time: other threads judge meanwhile.
    `on_progress(exercise, done, all)` is called while the catalogue of an exercise is run for its answer key, and
    `on_outcomes(exercise, statuses)` before that, with which checks pass and fail.
    """

    def __init__(
        self,
        suite: Suite,
        *,
        seed: int,
        device: str = "cpu",
        evidence: bool = False,
        remember: bool = False,
        cache: Path | None = None,
        finders: int = 1,
        isolation: Isolation | None = None,
        on_progress: Callable[[str, int, int], None] | None = None,
        on_outcomes: OnOutcomes | None = None,
        budget: "Budget | None" = None,
        slots: threading.Semaphore | None = None,
    ) -> None:
        self.suite = suite
        self.seed = seed
        self.device = device
        self.evidence = evidence
        self.budget = budget
        self.on_outcomes = on_outcomes
        self._slots = slots
        self.isolation = isolation or process_isolation(suite.course.libraries)
        self.suite_digest = suite.digest
        options = {"seed": seed, "device": device, "cache": cache, "on_progress": on_progress, "slots": slots}
        self._keys = [open_keys(suite, **options) for _ in range(finders)]
        self._idle: SimpleQueue[Keys] = SimpleQueue()
        for keys in self._keys:
            self._idle.put(keys)
        self._found: dict[tuple[str, bool], Future[AnswerKey]] = {}
        self._known: dict[str, AnswerKey] = {}
        self._extending = {exercise.id: threading.Lock() for exercise in suite.exercises}
        self._traced: dict[tuple[str, str], Future[Mapping[Key, RecordedTrace]]] = {}
        self._finder = ThreadPoolExecutor(max_workers=finders, thread_name_prefix="keys")
        self._lock = threading.Lock()
        self._runners: set[Runner] = set()
        self._cancelled = False
        self._remembered: Remembered | None = {} if remember else None

    def __enter__(self) -> "Grader":
        return self

    def __exit__(self, *_: object) -> None:
        self._finder.shutdown(wait=True, cancel_futures=True)
        for keys in self._keys:
            keys.close()

    def cancel(self) -> None:
        """Give up what is being graded and the answer keys that are being found: `grade` raises `Cancelled`."""
        with self._lock:
            self._cancelled = True
            runners = [*self._runners]
        self._finder.shutdown(wait=False, cancel_futures=True)
        for keys in self._keys:
            keys.cancel()
        for runner in runners:
            runner.cancel()

    def find_keys(self, exercises: Iterable[Exercise], *, with_misconceptions: bool = False) -> None:
        """Begin to find answer keys, beside everything else: what is expected, and with the catalogue what is known.

        Raises `Cancelled` after `cancel`.
        """
        with self._lock:
            for exercise in exercises:
                if (exercise.id, with_misconceptions) not in self._found:
                    find = self._extend if with_misconceptions else self._find_reference
                    self._found[exercise.id, with_misconceptions] = self._begun(find, exercise)

    def _begun(self, find: Callable[..., Found], *of: Any) -> "Future[Found]":
        """Begin to find something; raises `Cancelled` after `cancel`, as nothing runs any more."""
        if self._cancelled:
            raise Cancelled
        return self._finder.submit(find, *of)

    def release(self) -> None:
        """End the worker that finds keys, once it has found those requested: it holds a lot of memory."""
        with self._lock, suppress(Cancelled):
            self._begun(self._release)

    def _release(self) -> None:
        for _ in self._keys:
            with self._lent() as keys:
                keys.close()

    def forget(self) -> None:
        """Run earlier exercises again, even if their files have not changed."""
        if self._remembered is not None:
            self._remembered.clear()

    def wait_for_keys(
        self, on_progress: Callable[[int, int], None], exercises: Iterable[Exercise] | None = None
    ) -> None:
        """Find the whole keys of these exercises, or of all; `on_progress(found, all)` is called for each.

        One that cannot be made is an error when it is needed. Raises `Cancelled` after `cancel`.
        """
        wanted = tuple(exercises) if exercises is not None else self.suite.exercises
        self.find_keys(wanted, with_misconceptions=True)
        keys = [self._found[exercise.id, True] for exercise in wanted]
        done: SimpleQueue[Future[AnswerKey]] = SimpleQueue()
        for key in keys:
            key.add_done_callback(done.put)  # which is called when one is cancelled too, unlike `as_completed`
        for found in range(1, len(keys) + 1):
            if done.get().cancelled():
                raise Cancelled
            on_progress(found, len(keys))

    @contextmanager
    def _lent(self) -> Iterator[Keys]:
        keys = self._idle.get()
        try:
            yield keys
        finally:
            self._idle.put(keys)

    def _find_reference(self, exercise: Exercise) -> AnswerKey:
        with self._lent() as keys:
            return keys.reference(exercise)

    def _extend(self, exercise: Exercise, failures: Failures | None = None) -> AnswerKey:
        """Return the key with all that may explain these failures, or with everything."""
        with self._extending[exercise.id]:  # what one submission has run, the next one need not
            with self._lent() as keys:
                key = keys.get(exercise, failures, known=self._known.get(exercise.id))
            self._known[exercise.id] = key
        return key

    def grade(
        self,
        submission: Submission,
        exercises: Iterable[Exercise] | None = None,
        runner: Runner | None = None,
        on_verdict: Callable[[Report], None] | None = None,
    ) -> Report:
        """Return the report on a submission. A `runner` that was prepared before saves the wait for it.

        `on_verdict` is as in `report`. Raises `EnvironmentProblem` when this machine cannot run checks, and `Cancelled`
        after `cancel`.
        """
        wanted = tuple(exercises) if exercises is not None else self.suite.exercises
        with runner or self.new_runner() as own:
            with self._lock:
                self._runners.add(own)
            try:
                if self._cancelled:
                    raise Cancelled
                return self.report(submission, wanted, own, on_verdict)
            finally:
                with self._lock:
                    self._runners.discard(own)

    def new_runner(self) -> Runner:
        """Return a runner for the programs of one submission."""
        return Runner(
            self.suite,
            seed=self.seed,
            device=self.device,
            shared=True,
            start=self.isolation.start,
            slots=self._slots,
        )

    def report(
        self,
        submission: Submission,
        wanted: Sequence[Exercise],
        runner: Runner,
        on_verdict: Callable[[Report], None] | None = None,
    ) -> Report:
        """Return the report on a submission, run by a runner that goes on to live.

        `on_verdict(report)` is called before the search for a proof, if one begins.
        """
        present = [exercise for exercise in wanted if exercise.file in submission.sources]
        if present:
            with suppress(GraderProblem):  # a run meets it again, and then it costs a submission no points
                runner.prepare()
        self.find_keys(present)
        marking = self.marking(submission, runner)
        marking.run_own(present)
        results = [marking.result(exercise) for exercise in wanted]
        if self.evidence:
            results = [
                marking.with_pictures(exercise, result) for exercise, result in zip(wanted, results, strict=True)
            ]
        report = self._report(submission, results)
        failing = _first_failing(wanted, results)
        if self.budget is None or failing is None:
            return report
        from .proving import proved  # only for a failure

        at, found = wanted.index(failing), on_verdict or (lambda _: None)
        changed = proved(marking, failing, results[at], self.budget, lambda: found(report))
        return self._report(submission, [*results[:at], changed, *results[at + 1 :]])

    def marking(self, submission: Submission, runner: Runner) -> Marking:
        """Return the marking of a submission, for more than its report: edits of it, and what its lines made."""
        return Marking(
            self.suite, submission, runner, self._verdicts, self._traces, self._remembered, prints=self.evidence
        )

    def shapes(self, submission: Submission, result: ExerciseResult, runner: Runner) -> "Shapes":
        """Return the shape of the last tensor that each line of an exercise made, in the first trial of each check.

        There are none for a program that did not end by itself, or that is not written.
        """
        statuses = {check.status for check in result.checks}
        exercise = self.suite.course.exercise(result.id)
        if exercise.file not in submission.sources or not statuses <= _ENDED:
            return {}
        marking = self.marking(submission, runner)
        keys = [(check.id, 0) for check in self.suite.checks[exercise.id]]
        return last_shapes(marking.traced(exercise, keys, result.stood_in), exercise.file)

    def _report(self, submission: Submission, results: Sequence[ExerciseResult]) -> Report:
        return Report(
            course=self.suite.course.title,
            submission={"student": submission.student, "digest": submission.digest, "notes": list(submission.notes)},
            suite=self.suite_digest,
            device=self.device,
            isolation=self.isolation.name,
            level=self.isolation.level,
            exercises=tuple(results),
            log="".join(print_.text for result in results for print_ in result.prints)[:LOG_KEPT],
        )

    def _traces(self, exercise: Exercise) -> "FindTraces":
        def find(check: Check) -> "Mapping[Key, RecordedTrace]":
            with self._lock:
                if (exercise.id, check.id) not in self._traced:
                    self._traced[exercise.id, check.id] = self._begun(self._find_traces, exercise, check)
            return _result(self._traced[exercise.id, check.id])

        return find

    def _find_traces(self, exercise: Exercise, check: Check) -> "Mapping[Key, RecordedTrace]":
        with self._lent() as keys:
            return keys.traces(exercise, check)

    def _verdicts(self, exercise: Exercise) -> Verdicts:
        def key(failures: Failures | None) -> AnswerKey:
            if failures is None:
                self.find_keys([exercise])
                return _result(self._found[exercise.id, False])
            known = self._known.get(exercise.id)
            if known is not None and not known.left(failures):
                return known
            with self._lock:
                extended = self._begun(self._extend, exercise, failures)
            return _result(extended)

        return Verdicts(self.suite, exercise, key, seed=self.seed, evidence=self.evidence, on_outcomes=self.on_outcomes)


def _first_failing(exercises: Iterable[Exercise], results: Sequence[ExerciseResult]) -> Exercise | None:
    """Return the first exercise that fails; if there is none, the first with a bonus check that fails."""
    pairs = list(zip(exercises, results, strict=True))
    bonus = (one for one, result in pairs if (first := result.first_failure) and first.status in ("fail", "error"))
    return next((one for one, result in pairs if result.status in ("fail", "error")), next(bonus, None))


def _result(found: "Future[Found]") -> Found:
    try:
        return found.result()
    except CancelledError:
        raise Cancelled from None


# The shapes that a student's lines made, read from traces.

Shapes = Mapping[int, tuple[str, tuple[int, ...]]]
"""The check that ran a line, and the shape of the last tensor made there or in a call there, by the line's number."""


def last_shapes(traces: "Mapping[Key, RecordedTrace]", file: str) -> dict[int, tuple[str, tuple[int, ...]]]:
    """Return the shapes by line of a file; a line that several checks run has that of the first of them.

    Constructors are left out: the last tensor made there is a parameter of a part, not the value of the line.
    """
    found: dict[int, tuple[str, tuple[int, ...]]] = {}
    for (check, _), trace in traces.items():
        own = {
            place.line: (check, step.shape)
            for step in trace.steps
            for place in step.stack
            if place.file == file and not (place.function or "").endswith("__init__")
        }
        found = {**own, **found}
    return found
