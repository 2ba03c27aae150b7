"""Classroom 50: result.json of classroom50/result/v1, and the folder that grades with the student's kit.

https://github.com/foundation50/classroom50/wiki/Advanced-Autograding and schemas/result-v1.schema.json there.
"""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.gradebook import Exporter, ExportError, Graded, Mark, commit_time
from autograder.report import number, one_line
from autograder.results import ExerciseResult

from .feedback import why_no_score
from .formats import (
    MEGABYTE,
    TORCH_INDEX,
    ExportOptions,
    ExportResult,
    Format,
    public_kit,
    script,
    write_each,
    write_files,
    write_public,
)

FIELDS = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
}
"""The fields that are copied from the runner's environment."""

MOST_BYTES = 10 * MEGABYTE
"""The runner fetches no larger folder of an assignment."""


def classroom50(environment: Mapping[str, str]) -> Exporter:
    """Return the exporter of result.json, for the submission that the runner's environment describes."""

    def results(graded: Graded, mark: Mark) -> str:
        assert mark.report is not None
        if mark.score is None:
            raise ExportError(f"{mark.student} has no score to report. {why_no_score(mark)}")
        data = _identity(environment)
        tests = [
            _exercise_test(exercise, exercise.id in graded.policy.grading.bonus) for exercise in mark.report.exercises
        ]
        maximum = graded.policy.maximum
        data |= {"score": min(max(mark.score, 0), maximum), "max-score": maximum, "tests": tests}
        return json.dumps(data, indent=1) + "\n"

    return results


def write_classroom50_autograder(course: Course, kit: Path, to: Path) -> int:
    """Write the folder of an assignment: autograder.py, the kit, and the runtime. Return the number of files."""
    index = TORCH_INDEX if course.computes_with_tensors else ""
    runtime = {"runs-on": "ubuntu-latest", "python": "3.12"}
    files: dict[str, bytes | str] = {
        "autograder.py": script("classroom50.txt").replace("INDEX", index),
        "runtime.json": f"{json.dumps(runtime, indent=1)}\n",
        **public_kit(course, kit),
    }
    return write_files(to, files, MOST_BYTES)


def _identity(environment: Mapping[str, str]) -> dict[str, Any]:
    owner = environment.get("OWNER") or environment.get("USERNAME") or ""
    found = {field: environment.get(name, "") for field, name in FIELDS.items()} | {"owner": owner}
    names = {**FIELDS, "owner": "OWNER"}
    missing = [names[field] for field, value in found.items() if not value]
    if missing:
        raise ExportError(
            f"the environment has no {missing[0]}, expected what Classroom 50's runner sets; "
            "this format is written by autograder.py of course export classroom50-autograder"
        )
    time = commit_time(Path(environment.get("GITHUB_WORKSPACE") or ".")) or datetime.now(UTC)
    return {
        "schema": "classroom50/result/v1",
        **found,
        "assignment_type": environment.get("ASSIGNMENT_TYPE") or "individual",
        "review": environment.get("REVIEW_URL") or found["commit"],
        "datetime": f"{time:%Y-%m-%dT%H:%M:%SZ}",
    }


def _exercise_test(exercise: ExerciseResult, bonus: bool) -> dict[str, Any]:
    """Return one exercise in hundredths of a point. A score above the maximum is refused, so a bonus raises both."""
    return {
        "test-name": f"{number(exercise.id)} {one_line(exercise.title)}{' (bonus)' if bonus else ''}",
        "passed": exercise.status == "pass",
        "score": exercise.score,
        "max-score": max(exercise.max_score, exercise.score),
    }


def _classroom50(options: ExportOptions, graded: Graded) -> ExportResult:
    return write_each(options, graded, classroom50(os.environ), ".json")


def _classroom50_autograder(options: ExportOptions, course: Course) -> ExportResult:
    return write_public(options, course, write_classroom50_autograder)


FORMATS = (
    Format("classroom50", _classroom50),
    Format("classroom50-autograder", of_course=_classroom50_autograder, options=("kit",)),
)
