"""Read the results of `course grade`: the report of each student, and the final score by the current policy."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.course.names import UsageError
from autograder.course.nearest import suggestion
from autograder.instructor.gradebook.adjustments import FILE, read_adjustments
from autograder.instructor.gradebook.policy import Final, Policy, final_of, missing, policy_of
from autograder.instructor.gradebook.roster import Roster, Student
from autograder.instructor.gradebook.scores import read_scores
from autograder.instructor.grading.conditions import checks_of
from autograder.instructor.grading.out import before, read_run
from autograder.instructor.grading.selection import course_of_run
from autograder.report.quantities import listed, plural
from autograder.report.states import DECIDED
from autograder.results import CheckResult, ExerciseResult, Finding, Report
from autograder.results.reading import UnknownFormat, read_report
from autograder.submission.files import SubmissionError, printable
from autograder.submission.names import checked_id
from autograder.submission.times import parse_time

MOST_NAMED = 5
"""A message names this many students, so that it stays one line."""


class ExportError(UsageError):
    """A class that cannot be exported; the message says what was found, what was expected and what to do."""


@dataclass(frozen=True)
class Mark:
    """One student of the class with the row of the roster. A missing student has neither `report` nor `final`.

    `before` is the report from before a file was accepted, if that changed the submission.
    """

    row: Student
    report: Report | None = None
    final: Final | None = None
    before: Report | None = None

    @property
    def student(self) -> str:
        return self.row.student

    @property
    def failed(self) -> bool:
        """Whether the grader failed on a part of the submission, so that it has no score."""
        return self.report is not None and "grader_error" in self.report.statuses and self.score is None

    @property
    def excused(self) -> bool:
        """Whether everything is excused, so that there is no score, and nothing is missing."""
        return self.final is not None and self.final.excused

    @property
    def held(self) -> bool:
        """Whether no file of the submission could be read, and nobody has decided what it is worth."""
        return self.report is not None and self.report.is_held and self.score is None and not self.excused

    @property
    def is_decided(self) -> bool:
        """Whether a person decided about a student without a judged submission."""
        judged = self.report is not None and self.report.has_score
        return not judged and self.final is not None and not self.final.is_open

    @property
    def score(self) -> int | None:
        """The final score in hundredths; None if the grader failed or the student is missing."""
        return self.final.score if self.final else None


@dataclass(frozen=True, eq=False)
class Graded:
    """A graded class in the order of scores.csv, missing students last; `notes` are for the instructor.

    `run` has the seed, the checks and the versions of the run, as far as run.json can be read.
    """

    course: Course
    policy: Policy
    marks: tuple[Mark, ...]
    notes: tuple[str, ...] = ()
    run: Mapping[str, Any] = field(default_factory=dict)

    @property
    def seed(self) -> int | None:
        """The seed of the run; None if it is unknown. It is secret unless it is the seed of the course."""
        seed = self.run.get("seed")
        return seed if isinstance(seed, int) else None

    @property
    def runtime(self) -> Mapping[str, str]:
        """The versions of Python and of the libraries that results depend on, by name."""
        versions = self.run.get("runtime")
        return {str(name): str(version) for name, version in versions.items()} if isinstance(versions, dict) else {}

    @property
    def to_show(self) -> tuple[Mark, ...]:
        """Return the marks to make a file of: those with a report, and those that a person gave without one.

        A student who handed in nothing gets a report in which every exercise is missing.
        """
        shown = (mark for mark in self.marks if mark.report is not None or mark.score is not None or mark.excused)
        return tuple(mark if mark.report else replace(mark, report=self._of_nothing(mark.student)) for mark in shown)

    def _of_nothing(self, student: str) -> Report:
        """Return the report of a student who handed in nothing."""
        exercises = tuple(
            ExerciseResult(exercise.id, exercise.title, "missing", 0, exercise.points, ())
            for exercise in self.course.exercises
        )
        facts = {"student": student, "notes": ["nothing was handed in"]}
        return Report(self.course.title, facts, "", "", "", exercises)

    @property
    def with_report(self) -> tuple[Mark, ...]:
        """Return the marks of students who have a report."""
        return tuple(mark for mark in self.marks if mark.report is not None)


def read_graded(course: Course, roster: Roster, out: Path, students: Sequence[str] = ()) -> Graded:
    """Return the class in a folder of `course grade`, or the single report in a file of `--json`.

    With `students`, only those. Raises `ExportError` if there is no class, or reports and table are of different runs.
    """
    run = {} if out.is_file() else read_run(out) or {}
    adjustments = read_adjustments(course, roster)
    course = course_of_run(course, run)
    policy = policy_of(course, roster, adjustments)
    if out.is_file():
        report = _read(out)
        _check_course(course, out, report)
        return Graded(course, policy, (_mark(policy, _student(out, report), report, None),))
    reports, notes = _reports(course, out, run)
    _require_same_checks(course, out, run)
    times = handed_in_times(out)
    marks = [
        replace(_mark(policy, student, report, times.get(student)), before=_before(out, student, report))
        for student, report in reports.items()
    ]
    marks += [_absent(policy, student) for student in missing(policy, reports)]
    known = {mark.student for mark in marks}
    if nowhere := [student for student in policy.adjustments.students if student not in known]:
        notes = (*notes, f"{FILE} has students without a submission, left out: {named(nowhere)}")
    return Graded(course, policy, _chosen(marks, students), notes, run)


def handed_in_times(out: Path) -> Mapping[str, datetime]:
    """Return the known times of submission (UTC) by student, from the table beside the reports."""
    times = {student: parse_time(row.get("handed_in") or "", UTC) for student, row in _table(out).items()}
    return {student: time for student, time in times.items() if time is not None}


def handed_in_at(graded: Graded, student: str, time: datetime | None) -> Graded:
    """Return a class of one report, as submitted by a student at a time (UTC)."""
    (report,) = [mark.report for mark in graded.with_report]
    assert report is not None
    return replace(graded, marks=(_mark(graded.policy, student, report, time),))


def named(students: Iterable[str]) -> str:
    """Return the first few names, and the number of the others."""
    names = [printable(student) for student in students]
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return listed([*names[:MOST_NAMED], *more])


def _mark(policy: Policy, student: str, report: Report, time: datetime | None) -> Mark:
    final = final_of(policy, student, time, report)
    return Mark(policy.roster[student], report if final.is_open else _decided(report), final)


def _decided(report: Report) -> Report:
    """Return a report that says of each held exercise that somebody has decided."""
    return replace(
        report,
        exercises=tuple(
            replace(exercise, checks=tuple(map(_decided_check, exercise.checks)))
            if exercise.status == "held"
            else exercise
            for exercise in report.exercises
        ),
    )


def _decided_check(check: CheckResult) -> CheckResult:
    return replace(check, finding=Finding("structure", "decided", DECIDED.meaning))


def _absent(policy: Policy, student: str) -> Mark:
    """Return the mark of a student without a report, who has a final score only if somebody gave one."""
    final = final_of(policy, student, None, None)
    return Mark(policy.roster[student], None, final if final.adjustments else None)


def _before(out: Path, student: str, report: Report) -> Report | None:
    """Return the report from before a file was accepted, unless it is of the same submission."""
    file = before(out, student)
    earlier = _read(file) if file.is_file() else None
    same = earlier is None or earlier.submission.get("digest") == report.submission.get("digest")
    return None if same else earlier


def _reports(course: Course, out: Path, run: Mapping[str, Any]) -> tuple[dict[str, Report], tuple[str, ...]]:
    """Return the reports of the students in the table, and a note about other reports."""
    folder = out / "reports"
    files = {file.stem: file for file in sorted(folder.glob("*.json")) if not file.name.startswith(".")}
    if not files:
        raise ExportError(
            f"{printable(out)} has no reports, expected a folder written by course grade DIR --out {out.name}"
        )
    table = _table(out)
    suite = run.get("suite")
    reports: dict[str, Report] = {}
    for student, row in table.items():
        if not row.get("max_score"):
            continue  # a missing student
        if student not in files:
            raise _stale(out, f"reports/{student}.json is missing, but scores.csv has a row for it")
        report = reports[student] = _read(files[student])
        if report.submission.get("student") != student:
            raise _stale(out, f"reports/{student}.json is not the report of {student}")
        _check_course(course, files[student], report)
        score = f"{report.score / 100:.2f}" if report.has_score else ""
        if row.get("score") != score:
            in_table = row.get("score") or "no score"
            raise _stale(out, f"scores.csv has {in_table} for {student}, but the report has {score or 'no score'}")
        if isinstance(suite, str) and report.suite != suite:
            raise _stale(out, f"the report of {student} was made with other checks than the last run")
    others = [student for student in files if student not in table]
    note = f"{plural(len(others), 'report')} not in scores.csv, left out: {named(others)}"
    return reports, (note,) if others else ()


def _table(out: Path) -> dict[str, dict[str, str]]:
    """Return the rows of scores.csv by student, in the order of the file."""
    try:
        return read_scores(out / "scores.csv")
    except OSError:
        raise _stale(out, "scores.csv is missing, so the run did not finish") from None
    except ValueError:
        raise _stale(out, "scores.csv has other columns than course grade writes") from None


def _read(file: Path) -> Report:
    try:
        report = read_report(file)
    except UnknownFormat as error:
        raise ExportError(f"{printable(file)}: {error}") from None
    if report is None:
        raise ExportError(f"{printable(file)} is not a report, expected one of course grade; run it again")
    return report[0]


def _student(file: Path, report: Report) -> str:
    """Return the student id of a report. It becomes a file name, and anyone can write a report, so it is checked."""
    student = report.submission.get("student")
    try:
        return checked_id(student if isinstance(student, str) else "", file)
    except SubmissionError:
        found = f"the student {printable(student)!r}" if student else "no student"
        raise ExportError(f"{printable(file)} has {found}, expected a student id; create the report again") from None


def _check_course(course: Course, file: Path, report: Report) -> None:
    """Refuse a report of another course, or with other points for an exercise: its maximum would not fit."""
    worth = {exercise.id: exercise.points for exercise in course.exercises}
    for exercise in report.exercises:
        if worth.get(exercise.id) != exercise.max_score:
            now = f"has {worth[exercise.id] / 100:g}" if exercise.id in worth else "does not have it"
            found = f"{printable(file)} has {exercise.max_score / 100:g} points for {exercise.id}"
            raise ExportError(f"{found}, but this course {now}; run course grade again, in the folder of its course")


def _require_same_checks(course: Course, out: Path, run: Mapping[str, Any]) -> None:
    """Refuse a run if what decides marks in the course has changed since. An older run.json does not have it."""
    graded = run.get("checks")
    if not isinstance(graded, dict):
        return
    changed = [id_ for id_, digest in checks_of(course).items() if graded.get(id_) != digest]
    if changed:
        found = f"the checks, the solution, limits or sizes of {named(changed)} have changed since it was graded"
        raise ExportError(f"{printable(out)}: {found}; run the same course grade again")


def _stale(out: Path, found: str) -> ExportError:
    return ExportError(f"{printable(out)} is not a finished run: {found}; run the same course grade again")


def _chosen(marks: Sequence[Mark], students: Sequence[str]) -> tuple[Mark, ...]:
    known = {mark.student: mark for mark in marks}
    for student in students:
        if student not in known:
            hint = suggestion(student, known, "expected a student of scores.csv or of the roster")
            raise ExportError(f"there is no student {printable(student)}; {hint}")
    return tuple(mark for mark in marks if not students or mark.student in students)


Exporter = Callable[[Graded, Mark], str]
"""Returns the file for one student; the mark has a report."""
