"""scores.csv: one row for each student, one column for each exercise."""

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import datetime

from autograder.instructor.gradebook.policy import Policy, final, missing
from autograder.results import ExerciseResult, Report
from autograder.submission.times import told_time

NO_TIMES: Mapping[str, datetime | None] = {}


def scores_csv(
    reports: Sequence[Report],
    exercises: Sequence[str],
    policy: Policy | None = None,
    handed_in: Mapping[str, datetime | None] = NO_TIMES,
    absent: Sequence[str] | None = None,
) -> str:
    """Return the table as CSV text: the scores as the reports have them, and what the policy makes of them.

    What the grader failed on is left empty: it is no honest zero. So is all of a student who handed in nothing:
    those that are `absent`, by default everybody on the roster who has no report.
    """
    policy = policy or Policy()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    later = ["handed_in", "days_late", "penalty", "final", "final_max"]
    writer.writerow(["student", "score", "max_score", *exercises, *later, "notes"])
    for report in reports:
        student = str(report.submission["student"])
        by_id = {exercise.id: exercise for exercise in report.exercises}
        failed = "grader_error" in report.statuses
        made = final(policy, student, handed_in.get(student), None if failed else report.score)
        writer.writerow(
            [
                harmless(student),
                "" if failed else _points(report.score),
                _points(report.max_score),
                *(_cell(by_id.get(exercise)) for exercise in exercises),
                told_time(made.handed_in, policy.grading.zone),
                "" if made.lateness.days is None else made.lateness.days,
                "" if made.score is None else _points(made.lateness.penalty),
                "" if made.score is None else _points(made.score),
                _points(policy.maximum),
                harmless(" | ".join((*report.submission.get("notes", ()), *made.notes))),
            ]
        )
    if absent is None:
        absent = missing(policy, (str(report.submission["student"]) for report in reports))
    for student in absent:
        empty = [""] * (2 + len(exercises) + len(later))
        writer.writerow([harmless(student), *empty, "missing: nothing was handed in"])
    return text.getvalue()


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def plain(cell: str) -> str:
    """Return the text that `harmless` was made of."""
    return cell[1:] if cell[:1] == "'" and harmless(cell[1:]) == cell else cell


def _cell(exercise: ExerciseResult | None) -> str:
    return "" if exercise is None or exercise.status == "grader_error" else _points(exercise.score)


def _points(hundredths: int) -> str:
    return f"{hundredths / 100:.2f}"
