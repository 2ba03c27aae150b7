"""scores.csv: one row for each student, one column for each exercise."""

import csv
import io
from collections.abc import Sequence

from autograder.report import ExerciseResult, Report


def scores_csv(reports: Sequence[Report], exercises: Sequence[str]) -> str:
    """Return the table as CSV text. What the grader failed on is left empty: it is no honest zero."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["student", "score", "max_score", *exercises, "notes"])
    for report in reports:
        by_id = {each.id: each for each in report.exercises}
        failed = "grader_error" in report.statuses
        writer.writerow(
            [
                harmless(str(report.submission["student"])),
                "" if failed else _points(report.score),
                _points(report.max_score),
                *(_cell(by_id.get(each)) for each in exercises),
                harmless(" | ".join(report.submission.get("notes", ()))),
            ]
        )
    return text.getvalue()


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _cell(exercise: ExerciseResult | None) -> str:
    return "" if exercise is None or exercise.status == "grader_error" else _points(exercise.score)


def _points(hundredths: int) -> str:
    return f"{hundredths / 100:.2f}"
