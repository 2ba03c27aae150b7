"""The marks that differ from those of the table before: what a regrade, a decision or a new hand-in changed."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.instructor.gradebook.scores import read_scores
from autograder.report.quantities import plural
from autograder.submission.files import printable

MOST_LISTED = 20
"""More changes are counted: the table has them all."""

Marks = Mapping[str, tuple[str, str]]
"""The final score of each student as scores.csv has it, empty if there is none, and its maximum."""


def marks_of(table: Path) -> Marks:
    """Return the marks in a scores.csv; none if there is no such table, or it cannot be read."""
    try:
        rows = read_scores(table)
        return {student: (row["final"] or "", row["final_max"] or "") for student, row in rows.items()}
    except (OSError, ValueError, KeyError):
        return {}


def changed_marks(before: Marks, now: Marks) -> Iterator[str]:
    """Yield how many marks of students in both tables differ, and the first of them."""
    changed = [student for student in before if student in now and before[student] != now[student]]
    if not changed:
        return
    yield f"Changed since the last table: {plural(len(changed), 'mark')}"
    for student in changed[:MOST_LISTED]:
        yield f"  {printable(student)}  {_as_text(before[student])} → {_as_text(now[student])}"
    if len(changed) > MOST_LISTED:
        yield f"  and {len(changed) - MOST_LISTED} more"


def _as_text(mark: tuple[str, str]) -> str:
    score, most = mark
    return f"{score} of {most}" if score and score != "excused" else score or "no score"
