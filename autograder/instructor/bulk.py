"""Grade a folder of submissions: several at a time, a report for each, and only what has changed."""

import contextlib
import ctypes
import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from queue import Empty, SimpleQueue
from statistics import median
from threading import Event

from autograder.course import (
    Course,
    Exercise,
    Suite,
    digest_of_parts,
    engine_digest,
    files_of_rooms,
    suite_digest,
    suite_files,
    versions_of,
)
from autograder.gradebook import (
    Entry,
    Out,
    Row,
    Stored,
    digests_of_checks,
    named_content,
    read_stored,
    row_of,
    stamp_of,
    state_of,
    with_points,
    write_stored,
)
from autograder.judge import failed_result, held_result
from autograder.report import duration
from autograder.results import SCHEMA, Certainty, ExerciseResult, Report
from autograder.runner import Cancelled, EnvironmentProblem, Runner
from autograder.sandbox import Isolation, IsolationError, open_isolation, process_isolation
from autograder.submission import Caps, Submission, notes_of

# Estimate how fast a long run is, and how long it still takes.

WINDOWS = 15
"""Enough windows for a steady median, few enough to notice a change of speed."""


class Rate:
    """Counts the finished items of `total`, of which `at_once` are worked on at the same time.

    The rate is a median over the last windows of `at_once` items: one item that hangs for minutes does not change it.
    """

    def __init__(self, total: int, at_once: int) -> None:
        self.total = total
        self.done = 0
        self._at_once = at_once
        self._started = time.monotonic()
        self._windows: deque[float] = deque(maxlen=WINDOWS)

    def count(self) -> None:
        """Count one more item."""
        self.done += 1
        if self.done % self._at_once == 0:
            now = time.monotonic()
            self._windows.append((now - self._started) / self._at_once)
            self._started = now

    def __str__(self) -> str:
        text = f"graded {self.done:,} of {self.total:,}"
        if self.done == self.total or not self._windows:
            return text
        seconds = max(median(self._windows), 1e-6)
        return f"{text}, {_rate(seconds)}, about {duration(seconds * (self.total - self.done))} left"


def _rate(seconds: float) -> str:
    return f"{1 / seconds:.1f} a second" if seconds < 1 else f"{60 / seconds:.1f} a minute"


# Memory use of long runs: a setting of the C library.

_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD
_LARGE = 256 << 10


def give_back_large_blocks() -> None:
    """Make glibc return every freed block of 256 KiB or more to the system. Does nothing on other platforms.

    By default glibc raises this threshold to the largest block it has freed, up to 32 MiB, and keeps smaller blocks:
    one large answer of a worker would increase memory use for the rest of the run. Source: mallopt(3).
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)


# Open the requested isolation on the machine that grades.


def open_grading_isolation(
    name: str,
    suite: Suite,
    *,
    device: str,
    jobs: int,
    command: Sequence[str] | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> Isolation:
    """Open `sandbox`, at the highest isolation level of this machine, or `process`, for `jobs` submissions at a time.

    `command` starts a relay in another kind of sandbox. `meanwhile` is called while the sandbox starts. Raises
    `EnvironmentProblem` if this machine cannot confine submissions.
    """
    if name == "process":
        return process_isolation(suite.course.libraries)
    trusted = "for submissions you trust, use --isolation process, which runs them with your permissions"
    if device != "cpu":
        raise EnvironmentProblem(f"the sandbox supports only the CPU, not {device}; {trusted}")
    try:
        return open_isolation(Runner(suite, seed=suite.course.seed).warm_up(), jobs, command, meanwhile)
    except IsolationError as error:
        raise EnvironmentProblem(f"this machine cannot confine submissions: {error}; {trusted}") from None


# The conditions a report depends on, as digests, so that a later run can keep reports that still stand.


@dataclass(frozen=True)
class Conditions:
    """Everything except the submission that decides a report.

    `exercises` has a digest for each exercise of everything its result depends on, without its points. `runtime` has
    the versions that numbers and messages depend on. `checks` has a digest for each exercise of what decides its marks
    in the course: neither the engine nor texts nor misconceptions are part of it. `intake` is the digest of everything
    that reading a submission depends on. `files` has the size and modification time of the course's files.
    """

    course: Course
    suite: str
    seed: int
    device: str
    isolation: str
    runtime: Mapping[str, str]
    exercises: Mapping[str, str]
    checks: Mapping[str, str]
    intake: str
    files: Mapping[Path, tuple[int, int]]

    def run(self, submission: Submission) -> str:
        """Return the digest of everything that a student's report depends on."""
        return _sha256(repr((self.basis, *submission_facts(submission).items())).encode())

    @cached_property
    def basis(self) -> str:
        """The digest of everything that all reports depend on together."""
        return _sha256(repr((SCHEMA, self.course.title, self.suite, *self._common)).encode())

    def of_exercises(self, submission: Submission) -> dict[str, str]:
        """Return, for each exercise, the digest of everything its result depends on, without its points."""
        left_out = (sorted(submission.unread.items()), submission.unseen) if submission.missing else ()
        doubts = [sorted(some.items()) for some in (submission.doubts, submission.left) if some]
        common = (*self._common, submission.digest, *left_out, *doubts)
        return {id_: _sha256(repr((*common, digest)).encode()) for id_, digest in self.exercises.items()}

    @property
    def _common(self) -> tuple[object, ...]:
        return self.seed, self.device, self.isolation, sorted(self.runtime.items())

    def read(self, entry: Entry) -> Submission:
        """Read a submission within the limits of the course."""
        return entry.read(self.course.files, _caps(self.course))

    def touched(self) -> bool:
        """Return whether a file of the course was written since, perhaps with the same content."""
        return _stamps(self.course) != self.files

    def to_json(self) -> dict[str, object]:
        """Return the content of run.json: enough to grade again, and to refuse the merge of different runs."""
        return {
            "schema": SCHEMA,
            "course": self.course.title,
            "seed": self.seed,
            "device": self.device,
            "isolation": self.isolation,
            "suite": self.suite,
            "runtime": dict(self.runtime),
            "exercises": list(self.exercises),
            "checks": dict(self.checks),
        }


def submission_facts(submission: Submission) -> dict[str, object]:
    """Return what the report of a submission says about it."""
    facts = {"student": submission.student, "digest": submission.digest, "notes": list(submission.notes)}
    kinds = {"ordinary": notes_of("ordinary", submission.notes), "of_time": notes_of("time", submission.notes)}
    special = {kind: found for kind, found in kinds.items() if found}
    group = {"handed_in_by": submission.handed_in_by} if submission.handed_in_by else {}
    return {**facts, **special, **group, **({"found": list(submission.found)} if submission.held else {})}


def conditions_of(course: Course, *, seed: int, device: str, isolation: str) -> Conditions:
    """Return the current conditions of a course; its files are read, but no code in them runs.

    Raises OSError if a file cannot be read.
    """
    files = _stamps(course)
    checks = digests_of_checks(course)
    return Conditions(
        course=course,
        suite=suite_digest(course),
        seed=seed,
        device=device,
        isolation=isolation,
        runtime=runtime(course.every_library),
        exercises=_exercises(course, checks),
        checks=checks,
        intake=_intake(course),
        files=files,
    )


def runtime(libraries: Sequence[str]) -> dict[str, str]:
    """Return the versions that results and exception messages depend on."""
    return {"python": ".".join(map(str, sys.version_info[:2])), **versions_of(libraries)}


def _exercises(course: Course, checks: Mapping[str, str]) -> dict[str, str]:
    """Return a digest for each exercise of everything its result depends on: marks, messages and names of mistakes."""
    engine = engine_digest()
    return {exercise.id: _exercise(course, exercise, engine, checks[exercise.id]) for exercise in course.exercises}


def _exercise(course: Course, exercise: Exercise, engine: bytes, checks: str) -> str:
    texts = (exercise.title, sorted(exercise.hints.items()), sorted(course.words_of(exercise).items()))
    catalogue = course.catalogue_file(exercise)
    return _sha256(engine, checks.encode(), repr(texts).encode(), named_content(catalogue))


def _intake(course: Course) -> str:
    code = sorted(files_of_rooms("submission", "gradebook/class_folder.py", "gradebook/listing.py"))
    return _sha256(repr((course.files, asdict(_caps(course)))).encode(), *map(named_content, code))


def _stamps(course: Course) -> dict[Path, tuple[int, int]]:
    stats = {file: file.stat() for file in suite_files(course)}
    return {file: (stat.st_size, stat.st_mtime_ns) for file, stat in stats.items()}


def _caps(course: Course) -> Caps:
    return Caps(source_kib=course.limits.source_kib)


def _sha256(*parts: bytes) -> str:
    return f"sha256:{digest_of_parts(parts)}"


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

    def unproved(self, entries: Iterable[Entry]) -> dict[tuple[object, ...], tuple[str, list[Entry]]]:
        """Return what a search may prove: exercises whose first failure has a likely place, with the submissions.

        Equal programs with equal failures have one entry together.
        """
        groups: dict[tuple[object, ...], tuple[str, list[Entry]]] = {}
        course = self.conditions.course
        for entry in entries:
            stored = read_stored(self.out.report(entry.student))
            results = [one for one in stored.report.exercises if _is_unproved(one)] if stored is not None else []
            sources = self.conditions.read(entry).sources if results else {}
            for result in results:
                files = tuple(sources.get(one.file) for one in course.with_all_needs(course.exercise(result.id)))
                same = (result.id, files, tuple((check.status, check.mistake) for check in result.checks))
                groups.setdefault(same, (result.id, []))[1].append(entry)
        return groups

    def search(self, entry: Entry, exercise: Exercise, suite: Suite, run: GradeOne) -> ExerciseResult:
        """Run an exercise again with a `run` that searches; an error of the grader shows nothing."""
        return self._run(self.conditions.read(entry), [exercise], suite, run).exercises[0]

    def put_search(self, entry: Entry, result: ExerciseResult) -> None:
        """Write the result of a search into a report, if the same checks fail as when the submission was graded."""
        stored = read_stored(self.out.report(entry.student))
        if stored is None:
            return
        results = tuple(_with_search(old, result) if old.id == result.id else old for old in stored.report.exercises)
        stored = replace(stored, report=replace(stored.report, exercises=results))
        write_stored(self.out.report(entry.student), stored)
        self.out.index.put(self._row(entry, stored, stamp_of(entry, self.conditions.intake)))

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


def is_proved(result: ExerciseResult) -> bool:
    """Whether a proof shows where the first failure of an exercise comes from."""
    finding = result.first_failure.finding if result.first_failure is not None else None
    return finding is not None and finding.certainty is Certainty.SHOWN


def _is_unproved(result: ExerciseResult) -> bool:
    finding = result.first_failure.finding if result.first_failure is not None else None
    is_searchable = finding is not None and finding.kind != "forbidden" and result.status in ("fail", "error")
    return is_searchable and not result.searched and not is_proved(result)


def _with_search(graded: ExerciseResult, searched: ExerciseResult) -> ExerciseResult:
    """Return what a search found, with the marks as graded; a run that ended otherwise shows nothing."""
    statuses = [[check.status for check in result.checks] for result in (graded, searched)]
    if statuses[0] != statuses[1]:
        return replace(graded, searched=True)
    pairs = zip(graded.checks, searched.checks, strict=True)
    checks = tuple(replace(old, finding=new.finding, hints=new.hints) for old, new in pairs)
    return replace(graded, checks=checks, searched=True)


def _report(results: Sequence[ExerciseResult]) -> Report:
    """Return results of exercises for which nothing was run."""
    return Report("", {}, "", "", "", tuple(results), level=HIGHEST)
