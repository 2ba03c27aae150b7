"""What `course grade` wrote, read back: whose each report is, and what its score comes to by the rules of today."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.course.names import UsageError
from autograder.course.nearest import nearest
from autograder.instructor.gradebook.policy import Final, Policy, final, missing, policy_of
from autograder.instructor.gradebook.roster import Roster, Student
from autograder.instructor.gradebook.scores import plain
from autograder.instructor.grading.out import read_run
from autograder.report.words import listed, plural
from autograder.results import Report
from autograder.results.reading import read_report
from autograder.submission.found import SubmissionError, printable
from autograder.submission.names import checked_id
from autograder.submission.times import parse_time

MOST_NAMED = 5


class ExportError(UsageError):
    """This cannot be exported; the message says what was found, what was expected and what to do."""


@dataclass(frozen=True)
class Mark:
    """One student of the class, by the roster's row. Who handed in nothing has neither report nor `final`."""

    row: Student
    report: Report | None = None
    final: Final | None = None

    @property
    def student(self) -> str:
        return self.row.student

    @property
    def failed(self) -> bool:
        """Whether the grader failed on some of it, so that there is no score to trust."""
        return self.report is not None and "grader_error" in self.report.statuses

    @property
    def score(self) -> int | None:
        """What goes into a gradebook, in hundredths; None where the grader failed or nothing was handed in."""
        return self.final.score if self.final else None


@dataclass(frozen=True, eq=False)
class Graded:
    """A class that was graded, in the order of scores.csv; who is missing comes last. `notes` is what to tell.

    `run` is what run.json says of the run, as far as it can be read: its seed, its checks, its versions.
    """

    course: Course
    policy: Policy
    marks: tuple[Mark, ...]
    notes: tuple[str, ...] = ()
    run: Mapping[str, Any] = field(default_factory=dict)

    @property
    def seed(self) -> int | None:
        """The seed of the run; None where it is not known. Where it is not the course's own it is a secret."""
        seed = self.run.get("seed")
        return seed if isinstance(seed, int) else None

    @property
    def runtime(self) -> Mapping[str, str]:
        """The versions of the run by name: of Python and of the libraries that numbers depend on."""
        found = self.run.get("runtime")
        return {str(name): str(version) for name, version in found.items()} if isinstance(found, dict) else {}

    @property
    def with_report(self) -> tuple[Mark, ...]:
        return tuple(mark for mark in self.marks if mark.report is not None)


def read_graded(course: Course, roster: Roster, out: Path, students: Sequence[str] = ()) -> Graded:
    """Return the class in a folder `course grade` wrote, or the one report in a file that `--json` wrote.

    With `students`, only those. Raises `ExportError` where there is none, or reports and table are not of one run.
    """
    policy = policy_of(course, roster)
    if out.is_file():
        report = _read(out)
        _check_course(course, out, report)
        return Graded(course, policy, (_mark(policy, _student(out, report), report, None),))
    run = read_run(out) or {}
    reports, notes = _reports(course, out, run)
    times = handed_in_times(out)
    marks = [_mark(policy, student, report, times.get(student)) for student, report in reports.items()]
    marks += [Mark(roster[student]) for student in missing(policy, reports)]
    return Graded(course, policy, _chosen(marks, students), notes, run)


def handed_in_times(out: Path) -> Mapping[str, datetime]:
    """Return when each student handed in (UTC), where that is known, from the table beside the reports."""
    times = {student: parse_time(row.get("handed_in") or "", UTC) for student, row in _table(out).items()}
    return {student: time for student, time in times.items() if time is not None}


def handed_in_at(graded: Graded, student: str, time: datetime | None) -> Graded:
    """Return the one report of a class as handed in by that student at that moment (UTC)."""
    (report,) = [mark.report for mark in graded.with_report]
    assert report is not None
    return replace(graded, marks=(_mark(graded.policy, student, report, time),))


def named(students: Iterable[str]) -> str:
    """Return the first few names, and how many more there are."""
    names = [printable(student) for student in students]
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return listed([*names[:MOST_NAMED], *more])


def _mark(policy: Policy, student: str, report: Report, time: datetime | None) -> Mark:
    failed = "grader_error" in report.statuses
    return Mark(policy.roster[student], report, final(policy, student, time, None if failed else report.score))


def _reports(course: Course, out: Path, run: Mapping[str, Any]) -> tuple[dict[str, Report], tuple[str, ...]]:
    """Return the reports that the table has, by student, and what to tell of the others."""
    folder = out / "reports"
    files = {file.stem: file for file in sorted(folder.glob("*.json")) if not file.name.startswith(".")}
    if not files:
        raise ExportError(f"{printable(out)} has no reports, expected a folder of course grade DIR --out {out.name}")
    table = _table(out)
    suite = run.get("suite")
    reports: dict[str, Report] = {}
    for student, row in table.items():
        if not row.get("max_score"):
            continue  # was on the roster, and handed in nothing
        if student not in files:
            raise _stale(out, f"reports/{student}.json is missing, and scores.csv has a row of it")
        report = reports[student] = _read(files[student])
        if report.submission.get("student") != student:
            raise _stale(out, f"reports/{student}.json is not the report of {student}")
        _check_course(course, files[student], report)
        told = "" if "grader_error" in report.statuses else f"{report.score / 100:.2f}"
        if row.get("score") != told:
            found = f"scores.csv has {row.get('score') or 'no score'} for {student}"
            raise _stale(out, f"{found}, and the report {told or 'no score'}")
        if isinstance(suite, str) and report.suite != suite:
            raise _stale(out, f"the report of {student} was made by other checks than the last run")
    left = [student for student in files if student not in table]
    notes = f"{plural(len(left), 'report')} not in scores.csv, left out: {named(left)}"
    return reports, (notes,) if left else ()


def _table(out: Path) -> dict[str, dict[str, str]]:
    """Return the rows of scores.csv by student, in their order."""
    file = out / "scores.csv"
    try:
        rows = list(csv.DictReader(io.StringIO(file.read_text("utf-8"), newline="")))
    except OSError:
        raise _stale(out, "scores.csv is missing, so the run did not finish") from None
    except (ValueError, csv.Error):
        rows = []
    if not all({"student", "score", "max_score"} <= row.keys() for row in rows[:1] or [{}]):
        raise _stale(out, "scores.csv is not what course grade wrote")
    return {plain(str(row["student"])): row for row in rows}


def _read(file: Path) -> Report:
    found = read_report(file)
    if found is None:
        raise ExportError(f"{printable(file)} is no report, expected one of course grade; run it again")
    return found[0]


def _student(file: Path, report: Report) -> str:
    """Return whose report it is; files are named so, and a report of `course check --json` is anybody's to write."""
    student = report.submission.get("student")
    try:
        return checked_id(student if isinstance(student, str) else "", file)
    except SubmissionError:
        found = f"says it is of {printable(student)!r}" if student else "does not say whose it is"
        raise ExportError(f"{printable(file)} {found}, expected the id of a student; make the report anew") from None


def _check_course(course: Course, file: Path, report: Report) -> None:
    """Refuse a report of another course, or of one whose exercises had other points: the maximum would not fit."""
    worth = {exercise.id: exercise.points for exercise in course.exercises}
    for exercise in report.exercises:
        if worth.get(exercise.id) != exercise.max_score:
            is_now = f"{worth[exercise.id] / 100:g}" if exercise.id in worth else "not in this course"
            found = (
                f"{printable(file)} has {exercise.id} worth {exercise.max_score / 100:g} points, and it is {is_now} now"
            )
            raise ExportError(f"{found}; run course grade again, in the folder of its course")


def _stale(out: Path, found: str) -> ExportError:
    return ExportError(f"{printable(out)} is no finished run: {found}; run the same course grade again")


def _chosen(marks: Sequence[Mark], students: Sequence[str]) -> tuple[Mark, ...]:
    known = {mark.student: mark for mark in marks}
    for student in students:
        if student not in known:
            near = nearest(student, known)
            hint = f"is {near} meant?" if near else "expected one of scores.csv or of the roster"
            raise ExportError(f"nobody is called {printable(student)}; {hint}")
    return tuple(mark for mark in marks if not students or mark.student in students)


Exporter = Callable[[Graded, Mark], str]
"""What makes a file of one student's mark; its report is there."""
