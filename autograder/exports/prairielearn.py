"""PrairieLearn: results.json of an external grader, and the image that makes it.

https://docs.prairielearn.com/externalGrading/; apps/prairielearn/src/lib/externalGraderCommon.ts reads the file.
"""

import json
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.gradebook import ExportError, Graded, Mark
from autograder.report import notes as intake_notes
from autograder.report import number, one_line
from autograder.results import CheckResult, ExerciseResult, Report

from .feedback import check_text, notes, why_no_score
from .formats import (
    TORCH_INDEX,
    ExportOptions,
    ExportResult,
    Format,
    each,
    public_kit,
    script,
    write_files,
    write_public,
)

MOST_CHARACTERS = 200_000
"""In all messages together: PrairieLearn refuses a file of more than 1 MiB, and a character has up to four bytes."""

LONGEST = 2_000


def prairielearn(graded: Graded, mark: Mark) -> str:
    """Return results.json. A submission without any file of the course is not gradable: it costs no attempt.

    It is if a person gave points for it.
    """
    report = mark.report
    assert report is not None
    if mark.score is None:
        raise ExportError(f"{mark.student} has no score to report. {why_no_score(mark)}")
    own = mark.final.adjustments if mark.final else ()
    given = bool(mark.row.points) or any(row.kind in ("points", "add") for row in own)
    if report.statuses == {"missing"} and not given:
        return _text({"gradable": False, "format_errors": _nothing(report)})
    longest = min(LONGEST, MOST_CHARACTERS // max(1, sum(len(exercise.checks) for exercise in report.exercises)))
    bonus = graded.policy.grading.bonus
    # A question may ask for one exercise only: then the report has only that one.
    maximum = sum(one.max_score for one in report.exercises if one.id not in bonus) or report.max_score or 1
    results = {
        "gradable": True,
        "score": min(max(mark.score / maximum, 0.0), 1.0),
        "message": "\n".join(notes(mark)),
        "tests": [
            _check_test(exercise, check, exercise.id in bonus, longest)
            for exercise in report.exercises
            for check in exercise.checks
        ],
    }
    return _text(results)


def write_grader(course: Course, kit: Path, to: Path) -> int:
    """Write the Dockerfile and the entrypoint of the image, and the kit. Return the number of files."""
    index = TORCH_INDEX if course.computes_with_tensors else ""
    image = script("prairielearn.dockerfile").replace("INDEX", index)
    scripts = {"Dockerfile": image, "grade.sh": script("prairielearn.sh")}
    return write_files(to, {**scripts, **public_kit(course, kit)})


def _nothing(report: Report) -> list[str]:
    files = f"{report.exercises[0].id}.py" if report.exercises else "a file of the course"
    return [f"No file of the course was found. Upload your exercises, such as {files}.", *intake_notes(report)]


def _check_test(exercise: ExerciseResult, check: CheckResult, bonus: bool, longest: int) -> dict[str, Any]:
    """Return one check. Points are shown only if every test has both; one with a maximum of 0 is a bonus."""
    return {
        "name": f"{number(exercise.id)} {one_line(exercise.title)}: {one_line(check.title)}",
        "points": check.score / 100,
        "max_points": 0 if bonus else check.max_score / 100,
        "message": _cut(check_text(check), longest),
    }


def _cut(text: str, longest: int) -> str:
    """Return the beginning of a text that takes at most four bytes for each of the `longest` characters in JSON."""
    text = text[:longest]
    while len(json.dumps(text)) > 4 * longest:  # an escape has up to twelve
        text = text[: len(text) * 3 // 4]
    return text


def _text(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=1) + "\n"


def _prairielearn_grader(options: ExportOptions, course: Course) -> ExportResult:
    return write_public(options, course, write_grader)


FORMATS = (
    Format("prairielearn", each(prairielearn, ".json")),
    Format("prairielearn-grader", of_course=_prairielearn_grader, options=("kit",)),
)
