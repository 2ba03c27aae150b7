"""scores.csv: a row for each student, a column for each exercise."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from autograder.report import held_sentence, plural
from autograder.results import NOT_JUDGED, ExerciseResult, Report
from autograder.submission import format_time, printable

from .policy import Final, Policy, final_of, missing
from .roster import as_csv

_AFTER_POLICY = ("handed_in", "days_late", "penalty", "final", "final_max")
NO_TIMES: Mapping[str, datetime | None] = {}


def scores_csv(
    reports: Sequence[Report],
    exercises: Sequence[str],
    policy: Policy | None = None,
    handed_in: Mapping[str, datetime | None] = NO_TIMES,
    absent: Sequence[str] | None = None,
) -> str:
    """Return the table as CSV text: the scores of the reports, and the final scores by the policy.

    A score is empty, not zero, if the grader failed on it or the submission is held. `absent` students are missing, and
    their row is empty; by default these are the students on the roster without a report.
    """
    policy = policy or Policy()
    if absent is None:
        absent = missing(policy, (str(report.submission["student"]) for report in reports))
    columns = ["student", "score", "max_score", *exercises, *_AFTER_POLICY, "notes"]
    rows = (_row(report, exercises, policy, handed_in) for report in reports)
    return as_csv([columns, *rows, *(_absent(student, len(columns), policy) for student in absent)])


def _absent(student: str, columns: int, policy: Policy) -> list[object]:
    """Return the row of a student without a submission: empty, unless somebody decided about it."""
    result = final_of(policy, student, None, None)
    has_result = result.excused or result.score is not None
    decided = _final(result, policy) if has_result else ["", ""]
    note = " | ".join(("missing: no submission", *(row.sentence for row in result.adjustments)))
    return [harmless(student), *[""] * (columns - 4), *decided, note]


def _final(result: Final, policy: Policy) -> list[str]:
    """Return the final score, and its maximum."""
    score = "excused" if result.excused else "" if result.score is None else _points(result.score)
    return [score, _points(policy.maximum)]


def _row(
    report: Report, exercises: Sequence[str], policy: Policy, handed_in: Mapping[str, datetime | None]
) -> list[object]:
    student = str(report.submission["student"])
    by_id = {exercise.id: exercise for exercise in report.exercises}
    failed = not report.has_score
    result = final_of(policy, student, handed_in.get(student), report)
    return [
        harmless(student),
        "" if failed else _points(report.score),
        _points(policy.maximum),
        *(_cell(by_id.get(exercise)) for exercise in exercises),
        format_time(result.handed_in, policy.grading.zone),
        "" if result.lateness.days is None else result.lateness.days,
        "" if result.score is None else _points(result.lateness.penalty),
        *_final(result, policy),
        harmless(" | ".join((*_held(report), *report.submission.get("notes", ()), *result.notes))),
    ]


def _held(report: Report) -> list[str]:
    return [held_sentence(report)] if report.is_held else []


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula, with an apostrophe before it if needed."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def read_scores(file: Path) -> dict[str, dict[str, str]]:
    """Return the rows of a scores.csv by student, in the order of the file.

    Raises OSError if there is no such file, and ValueError if it is no table with a row for each student.
    """
    try:
        rows = list(csv.DictReader(io.StringIO(file.read_text("utf-8"), newline="")))
    except csv.Error as error:
        raise ValueError(str(error)) from error
    if not {"student", "score", "max_score"} <= (rows[0] if rows else {}).keys():
        raise ValueError("no column for students, scores or their maximum")
    return {plain(str(row["student"])): row for row in rows}


def plain(cell: str) -> str:
    """Return the text that `harmless` was given."""
    return cell[1:] if cell[:1] == "'" and harmless(cell[1:]) == cell else cell


def _cell(exercise: ExerciseResult | None) -> str:
    """Return the points; nothing for what was not judged, or is worth nothing as it belongs to another assignment."""
    counts = exercise is not None and exercise.status not in NOT_JUDGED and exercise.max_score
    return _points(exercise.score) if exercise is not None and counts else ""


def _points(hundredths: int) -> str:
    return f"{hundredths / 100:.2f}"


# The marks that differ from those of the table before: what a regrade, a decision or a new hand-in changed.

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
    both = [student for student in before if student in now]
    changed = [student for student in both if _as_text(before[student]) != _as_text(now[student])]
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
