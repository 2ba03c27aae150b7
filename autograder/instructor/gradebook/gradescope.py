"""Gradescope: results.json (https://gradescope-autograders.readthedocs.io/en/latest/specs/)."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from autograder.instructor.gradebook.feedback import check_text, notes
from autograder.instructor.gradebook.graded import Exporter, ExportError, Graded, Mark, handed_in_at
from autograder.instructor.gradebook.markdown import why_no_score
from autograder.report.printable import one_line
from autograder.report.states import STATES, state_of
from autograder.results import CheckResult, ExerciseResult
from autograder.submission.files import printable
from autograder.submission.names import Clue
from autograder.submission.times import parse_time

Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]
UNFINISHED = "The grader has not finished, so there is no score. This is no fault of yours: ask for another run."


@dataclass(frozen=True)
class Seen:
    """When a student sees the results, and the single checks. Gradescope shows no total if a check is hidden."""

    results: Visibility = "visible"
    checks: Visibility | None = None


def gradescope(graded: Graded, seen: Seen) -> Exporter:
    """Return the exporter of a student's results.json."""

    def results(_: Graded, mark: Mark) -> str:
        return _text(_results(graded, mark, seen))

    return results


def unfinished() -> str:
    """Return the results.json of a grading that has not finished: no score, and why."""
    test = {"name": "grading", "status": "failed", "output": UNFINISHED}
    return _text({"output": UNFINISHED, "output_format": "text", "tests": [test]})


def handed_in(graded: Graded, metadata: Path) -> Graded:
    """Return a class of one report, with the student and the time of a submission_metadata.json.

    The time is when it was handed in, even if it is graded again later. Raises `ExportError`.
    """
    try:
        data: Any = json.loads(metadata.read_bytes())
        time = parse_time(str(data["created_at"]), graded.policy.grading.zone)
        users = [(str(user.get("email") or ""), str(user.get("name") or "")) for user in data["users"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        time, users = None, []
    if time is None or not users:
        wanted = "Gradescope's submission_metadata.json, with created_at and users"
        raise ExportError(
            f"{printable(metadata)} cannot be read, expected {wanted}; give another file, or leave it out"
        )
    marks = graded.with_report
    if len(marks) != 1:
        raise ExportError(f"--metadata is of one submission, and there are {len(marks)}; name one with --student")
    clues = [Clue("", name=name or None, logins=(email,)) for email, name in users]
    known = [who[0] for clue in clues if len(who := graded.policy.roster.find(clue)) == 1]
    return handed_in_at(graded, known[0] if known else users[0][0] or marks[0].student, time)


def _results(graded: Graded, mark: Mark, seen: Seen) -> dict[str, Any]:
    """Return the results. A report that the grader failed on has no score, so that no score counts by mistake."""
    exercises = mark.report.exercises if mark.report else ()
    tests = [
        _test(graded, mark, exercise, check, f"{number}.{part}", seen)
        for number, exercise in enumerate(exercises, 1)
        for part, check in enumerate(exercise.checks, 1)
    ]
    failing = (exercise for exercise in exercises if exercise.status == "grader_error")
    failed = [f"{exercise.title}: {state_of(exercise).meaning}" for exercise in failing]
    lines = [UNFINISHED, *failed] if mark.failed else [STATES["held"].meaning] if mark.held else notes(mark)
    if mark.excused:
        lines = [why_no_score(mark), *lines]
    if not tests and mark.score is None:  # Gradescope takes no results without a score and without a test
        tests = [{"name": "excused", "status": "passed", "output": why_no_score(mark)}]
    score = {} if mark.score is None else {"score": mark.score / 100}
    seconds = sum(check.seconds for exercise in exercises for check in exercise.checks)
    return {
        **score,
        "execution_time": round(seconds, 3),
        "output": "\n".join(lines),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": seen.results,
        "stdout_visibility": "hidden",
        "extra_data": {"suite": mark.report.suite if mark.report else "", "maximum": graded.policy.maximum / 100},
        "tests": tests,
    }


def _test(
    graded: Graded, mark: Mark, exercise: ExerciseResult, check: CheckResult, number: str, seen: Seen
) -> dict[str, Any]:
    """Return one check; a bonus has a `max_score` of 0."""
    bonus = check.bonus or exercise.id in graded.policy.grading.bonus
    points = {"score": check.score / 100, "max_score": 0 if bonus else check.max_score / 100}
    return {
        **({} if mark.score is None else points),
        "status": "passed" if check.status == "pass" else "failed",
        "name": f"{one_line(exercise.title)}: {one_line(check.title)}",
        "number": number,
        "output": check_text(check),
        "tags": [exercise.id, check.id],
        **({"visibility": seen.checks} if seen.checks else {}),
    }


def _text(results: dict[str, Any]) -> str:
    return json.dumps(results, indent=1) + "\n"
