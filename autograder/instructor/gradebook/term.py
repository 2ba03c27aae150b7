"""The marks of a term: those of all assignments side by side, and their weighted total."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from math import floor
from pathlib import Path

from autograder.course import Course
from autograder.course.assignments import find_assignment
from autograder.course.model import Assignment
from autograder.instructor.gradebook.csv_text import as_csv
from autograder.instructor.gradebook.graded import ExportError, Graded, Mark, read_graded
from autograder.instructor.gradebook.policy import deadline
from autograder.instructor.gradebook.roster import Roster
from autograder.instructor.gradebook.scores import harmless
from autograder.instructor.grading.out import read_run
from autograder.submission.files import printable


@dataclass(frozen=True)
class TermMark:
    """The total of a student, in hundredths of percent; None if an assignment waits for a decision, or none counts.

    `cells` has what stands in the column of each assignment, and `notes` say what became of those without a score.
    """

    student: str
    cells: tuple[str, ...]
    total: int | None
    notes: tuple[str, ...]


def is_term(out: Path) -> bool:
    """Say whether a folder has the runs of several assignments, and is no run itself."""
    return out.is_dir() and not (out / "run.json").exists() and any(out.glob("*/run.json"))


def read_term(course: Course, roster: Roster, out: Path) -> tuple[tuple[Assignment, Graded], ...]:
    """Return the runs in a folder by assignment, in the order of the course. Raises `ExportError`."""
    found: dict[str, Path] = {}
    for file in sorted(out.glob("*/run.json")):
        name = str((read_run(file.parent) or {}).get("assignment") or "")
        if not name:
            fix = "grade it with --assignment, or move it out of the folder"
            raise ExportError(
                f"{printable(file.parent)} is the run of no assignment, so it has no place in a term; {fix}"
            )
        if name in found:
            both = f"{printable(found[name])} and {printable(file.parent)}"
            raise ExportError(f"{both} are both runs of {name}, expected one; move the other out of the folder")
        found[find_assignment(course, name).id] = file.parent
    wanted = [one for one in course.assignments if one.id in found]
    return tuple((one, read_graded(course, roster, found[one.id])) for one in wanted)


def term_marks(runs: Sequence[tuple[Assignment, Graded]], drop: int, now: datetime) -> list[TermMark]:
    """Return the total of each student: the mean of the shares that count, weighted by the assignments.

    What is excused leaves. What is missing is worth 0 as soon as it was due, and leaves before that. The `drop`
    assignments with the lowest shares leave too, of equals the later ones.
    """
    by_student = [{mark.student: mark for mark in graded.marks} for _, graded in runs]
    students = dict.fromkeys(student for marks in by_student for student in marks)
    return [
        _term_mark(student, runs, [marks.get(student) for marks in by_student], drop, now)
        for student in sorted(students)
    ]


def term_csv(runs: Sequence[tuple[Assignment, Graded]], drop: int, now: datetime | None = None) -> str:
    """Return the table of a term as CSV: a column for each assignment, `term` and `term_max` in percent, notes."""
    heads = [name for one, _ in runs for name in (one.id, f"{one.id}_max")]
    rows = [["student", *heads, "term", "term_max", "notes"]]
    for mark in term_marks(runs, drop, now or datetime.now(UTC)):
        cells = [cell for cell, (_, graded) in zip(mark.cells, runs, strict=True) for cell in (cell, _max(graded))]
        total = "" if mark.total is None else f"{mark.total / 100:.2f}"
        rows.append([harmless(mark.student), *cells, total, "100.00", harmless(" | ".join(mark.notes))])
    return as_csv(rows)


def _term_mark(
    student: str, runs: Sequence[tuple[Assignment, Graded]], marks: Sequence[Mark | None], drop: int, now: datetime
) -> TermMark:
    cells, waits = [], False
    rosters = [graded.policy.roster for _, graded in runs]
    notes = ["not on the roster"] if any(roster and student not in roster for roster in rosters) else []
    shares: dict[str, tuple[Fraction, Fraction]] = {}
    for (assignment, graded), mark in zip(runs, marks, strict=True):
        score = mark.score if mark is not None else None
        cells.append(f"{score / 100:.2f}" if score is not None else "excused" if mark and mark.excused else "")
        if score is None and (mark is None or mark.report is None) and not (mark and mark.excused):
            due = deadline(graded.policy, student, 0)
            if due is None or due >= now:
                notes.append(f"{assignment.id}: nothing handed in yet")
                continue
            notes.append(f"{assignment.id}: nothing was handed in until it was due, counts 0")
            score = 0
        if score is not None:
            weight = (
                Fraction(assignment.weight) if assignment.weight is not None else Fraction(graded.policy.maximum, 100)
            )
            shares[assignment.id] = Fraction(score, max(graded.policy.maximum, 1)), weight
        elif mark is not None and not mark.excused:
            notes.append(f"{assignment.id}: nobody has decided yet")
            waits = True
    order = list(shares)
    lowest = sorted(order, key=lambda id_: (shares[id_][0], -order.index(id_)))[: max(min(drop, len(order) - 1), 0)]
    if lowest:
        notes.append(f"dropped: {', '.join(id_ for id_ in order if id_ in lowest)}")
    return TermMark(student, tuple(cells), None if waits else _total(shares, lowest), tuple(notes))


def _total(shares: Mapping[str, tuple[Fraction, Fraction]], dropped: Sequence[str]) -> int | None:
    kept = [pair for id_, pair in shares.items() if id_ not in dropped]
    if not kept:
        return None
    exact = sum(share * weight for share, weight in kept) / sum(weight for _, weight in kept)
    return floor(exact * 10_000 + Fraction(1, 2))


def _max(graded: Graded) -> str:
    return f"{graded.policy.maximum / 100:.2f}"
