"""Grade a folder of submissions: several at a time, a report for each, and only what has changed."""

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event

from autograder.course import Exercise
from autograder.course.suite import Suite, suite_digest
from autograder.instructor.grading.conditions import Conditions, submission_facts
from autograder.instructor.grading.index import Row, row_of, stamp_of, state_of
from autograder.instructor.grading.out import Out
from autograder.instructor.grading.reports import Stored, read_stored, with_points, write_stored
from autograder.judge.verdict import failed_result, held_result
from autograder.results import ExerciseResult, Report
from autograder.runner.runner import Cancelled, EnvironmentProblem
from autograder.submission import Submission
from autograder.submission.class_entry import Entry

LOOK_SECONDS = 0.1
"""How often the main thread looks for a stop: short enough that Ctrl-C seems immediate."""

HIGHEST = "L3"
"""The isolation level of a report for which nothing was run."""

GradeOne = Callable[[Submission, Sequence[Exercise]], Report]
"""Grades some exercises of a submission; called from several threads."""


class Stopped(Exception):
    """A stop was requested; finished reports are kept."""


class CourseChanged(Exception):
    """The course was changed during the run; the message is a sentence."""


@dataclass(frozen=True)
class Graded:
    """A submission with a report, how many exercises ran for it, and whether the whole report was kept."""

    row: Row
    kept: bool
    ran: int = 0


@dataclass(frozen=True)
class Plan:
    """The work to do: `known` submissions have valid reports, `open` ones do not.

    `exercises` are those that must run for the open ones: none if only points have changed.
    """

    known: tuple[Entry, ...]
    open: tuple[Entry, ...]
    exercises: tuple[Exercise, ...]


class Bulk:
    """Grades submissions into a folder. Keeps each report, or each exercise of it, that depends on nothing new.

    Reports of the students in `anew` and parts on which the grader failed are never kept. Set `stop` from any thread to
    start no further work.
    """

    def __init__(self, out: Out, conditions: Conditions, *, anew: Collection[str] = ()) -> None:
        self.out = out
        self.conditions = conditions
        self.anew = frozenset(anew)
        self.stop = Event()

    def plan(self, entries: Sequence[Entry]) -> Plan:
        """Return the work to do. Raises `Stopped`."""
        known, open_ = [], []
        exercises: set[str] = set()
        for entry in entries:
            self._go_on()
            to_run = None if self._is_current(entry) else self._to_run(entry)
            if to_run is None:
                known.append(entry)
            else:
                open_.append(entry)
                exercises |= to_run
        wanted = tuple(exercise for exercise in self.conditions.course.exercises if exercise.id in exercises)
        return Plan(tuple(known), tuple(open_), wanted)

    def grade_all(
        self, entries: Sequence[Entry], suite: Suite, run: GradeOne, jobs: int, on_progress: Callable[[Graded], None]
    ) -> None:
        """Grade every entry, `jobs` at a time; calls `on_progress` for each one, in this thread.

        Raises `Stopped`, `CourseChanged`, OSError if a report cannot be written, and `EnvironmentProblem` if this
        machine cannot run checks. Finished reports are kept.
        """
        ended: SimpleQueue[Graded | BaseException] = SimpleQueue()

        def grade(entry: Entry) -> None:
            try:
                ended.put(self.grade_one(entry, suite, run))
            except BaseException as error:
                ended.put(error)

        pool = ThreadPoolExecutor(jobs, thread_name_prefix="grading")
        try:
            for entry in entries:
                pool.submit(grade, entry)
            for _ in entries:
                graded = self._next(ended)
                self.out.index.put(graded.row)
                on_progress(graded)
        finally:
            self.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            # Reports that were finished while the pool shut down.
            while not ended.empty():
                if isinstance(late := ended.get(), Graded):
                    self.out.index.put(late.row)

    def grade_one(self, entry: Entry, suite: Suite, run: GradeOne) -> Graded:
        """Grade the changed exercises of a submission, and write its report."""
        self._go_on()
        stamp = stamp_of(entry, self.conditions.intake)
        submission = self.conditions.read(entry)
        digest = self.conditions.run(submission)
        stored = self._stored(entry)
        kept = stored is not None and stored.run == digest and not stored.failed
        ran = 0
        if stored is None or not kept:
            report, ran = self._graded(submission, stored, suite, run)
            self._go_on()
            self._same_course()
            stored = Stored(report, digest, self.conditions.of_exercises(submission))
            write_stored(self.out.report(entry.student), stored)
        return Graded(self._row(entry, stored, stamp), kept, ran)

    def rows(self, entries: Iterable[Entry]) -> Iterator[Row]:
        """Yield the rows of the valid reports, ordered by student."""
        for entry in sorted(entries, key=lambda entry: entry.student):
            row = self.out.index.get(entry.student)
            if row is not None and row.file == state_of(self.out.report(entry.student)):
                yield row
            elif (stored := read_stored(self.out.report(entry.student))) is not None:
                yield self._row(entry, stored, "")

    def _row(self, entry: Entry, stored: Stored, stamp: str) -> Row:
        file = state_of(self.out.report(entry.student))
        return row_of(stored, stamp=stamp, file=file, basis=self.conditions.basis)

    def _is_current(self, entry: Entry) -> bool:
        """Return whether a report is valid by the index alone, without reading it or the submission."""
        row = self.out.index.get(entry.student) if entry.student not in self.anew else None
        if row is None or row.failed or row.basis != self.conditions.basis:
            return False
        if row.file != state_of(self.out.report(entry.student)):
            return False
        return row.stamp == stamp_of(entry, self.conditions.intake)

    def _stored(self, entry: Entry) -> Stored | None:
        return read_stored(self.out.report(entry.student)) if entry.student not in self.anew else None

    def _to_run(self, entry: Entry) -> set[str] | None:
        """Return the exercises that must run for a submission; None if its report is valid, which the index records."""
        stored = self._stored(entry)
        if stored is None:
            return set(self.conditions.exercises)
        stamp = stamp_of(entry, self.conditions.intake)
        submission = self.conditions.read(entry)
        if stored.run == self.conditions.run(submission) and not stored.failed:
            self.out.index.put(self._row(entry, stored, stamp))
            return None
        return set(self.conditions.exercises) - set(self._results_kept(submission, stored))

    def _results_kept(self, submission: Submission, stored: Stored | None) -> dict[str, ExerciseResult]:
        """Return the results that depend neither on a change nor on an exercise that the grader failed on."""
        if stored is None:
            return {}
        now = self.conditions.of_exercises(submission)
        unchanged = {
            exercise.id: exercise
            for exercise in stored.report.exercises
            if stored.exercises.get(exercise.id) == now.get(exercise.id)
        }
        failed = {exercise.id for exercise in stored.report.exercises if exercise.status == "grader_error"}
        course = self.conditions.course
        return {
            id_: result
            for id_, result in unchanged.items()
            if failed.isdisjoint(needed.id for needed in course.with_needs(course.exercise(id_)))
        }

    def _graded(self, submission: Submission, stored: Stored | None, suite: Suite, run: GradeOne) -> tuple[Report, int]:
        """Return the report of a submission, kept results with their current points and new ones; and how many ran."""
        points = {exercise.id: suite.points(exercise) for exercise in suite.exercises}
        kept = {
            id_: with_points(result, points[id_])
            for id_, result in self._results_kept(submission, stored).items()
            if {check.id for check in result.checks} == set(points[id_])
        }
        wanted = [exercise for exercise in suite.exercises if exercise.id not in kept]
        new = self._run(submission, wanted, suite, run) if wanted else None
        results = kept | {exercise.id: exercise for exercise in (new.exercises if new is not None else ())}
        made_by = (stored.report if stored is not None and kept else None, new)
        report = Report(
            course=self.conditions.course.title,
            submission=submission_facts(submission),
            suite=self.conditions.suite,
            device=self.conditions.device,
            isolation=self.conditions.isolation,
            exercises=tuple(results[exercise.id] for exercise in suite.exercises),
            level=min((report.level for report in made_by if report is not None), default=HIGHEST),
        )
        return report, len(wanted)

    def _run(self, submission: Submission, wanted: Sequence[Exercise], suite: Suite, run: GradeOne) -> Report:
        """Run exercises. An unexpected error costs this submission its score until the next run, but not the class."""
        if submission.held:
            return _report([held_result(suite, exercise) for exercise in wanted])
        try:
            return run(submission, wanted)
        except (OSError, EnvironmentProblem, Cancelled):
            raise
        except Exception as error:
            self._go_on()
            text = f"{type(error).__name__}: {error}"
            return _report([failed_result(suite, exercise, text) for exercise in wanted])

    def _next(self, ended: "SimpleQueue[Graded | BaseException]") -> Graded:
        while True:
            with contextlib.suppress(Empty):
                one = ended.get(timeout=LOOK_SECONDS)
                if isinstance(one, Graded):
                    return one
                raise Stopped if self.stop.is_set() else one
            self._go_on()

    def _go_on(self) -> None:
        if self.stop.is_set():
            raise Stopped

    def _same_course(self) -> None:
        """Raise `CourseChanged` if the course was changed during the run: a report could mix two versions."""
        if self.conditions.touched() and suite_digest(self.conditions.course) != self.conditions.suite:
            raise CourseChanged(f"the files of the course in {self.conditions.course.root} were changed during grading")


def _report(results: Sequence[ExerciseResult]) -> Report:
    """Return results of exercises for which nothing was run."""
    return Report("", {}, "", "", "", tuple(results), level=HIGHEST)
