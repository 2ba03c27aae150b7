"""GitHub and GitLab: workflows that check a repository, and failures at the lines of its files."""

import hashlib
import json
import re
from collections.abc import Callable

from autograder.course import Course
from autograder.gradebook import Graded, Mark
from autograder.report import message_of, number, one_line
from autograder.results import CheckResult, ExerciseResult
from autograder.submission import NOTEBOOKS

from .feedback import failing
from .formats import TORCH_INDEX, ExportOptions, ExportResult, Format, each, script, write_text


def annotations(graded: Graded, mark: Mark) -> str:
    """Return one workflow command of GitHub Actions for the first failure of each exercise. A log prints them.

    https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
    """
    lines = []
    for exercise, check in _failing(mark):
        file, line = _position(graded.course, check, exercise.id)
        title = f"Exercise {number(exercise.id)}: {one_line(check.title)}"
        fields = {"file": file, **({"line": str(line)} if line else {}), "title": title}
        properties = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in fields.items())
        lines.append(f"::error {properties}::{_escaped(message_of(check.status, check.finding))}\n")
    return "".join(lines)


def code_quality(graded: Graded, mark: Mark) -> str:
    """Return GitLab's Code Quality report: the first failure of each exercise at its line.

    https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
    """
    entries = []
    for exercise, check in _failing(mark):
        file, line = _position(graded.course, check, exercise.id)
        name = f"{exercise.id}/{check.id}"
        entries.append(
            {
                "description": f"{one_line(check.title)}: {message_of(check.status, check.finding)}",
                "check_name": name,
                "fingerprint": hashlib.sha256(name.encode()).hexdigest(),
                "severity": "major",
                "location": {"path": file, "lines": {"begin": line or 1}},
            }
        )
    return json.dumps(entries, indent=1) + "\n"


def github_actions(course: Course) -> str:
    """Return the text of a workflow file for GitHub Actions."""
    index = f" || '{TORCH_INDEX}'" if course.computes_with_tensors else ""
    return script("github_actions.yml").replace(" || 'INDEX'", index)


def gitlab_ci(course: Course) -> str:
    """Return the text of a .gitlab-ci.yml."""
    variables = f"  variables:\n    PIP_EXTRA_INDEX_URL: {TORCH_INDEX}\n" if course.computes_with_tensors else ""
    return script("gitlab_ci.yml").replace("  VARIABLES\n", variables)


def _failing(mark: Mark) -> list[tuple[ExerciseResult, CheckResult]]:
    assert mark.report is not None
    return failing(mark.report)


def _position(course: Course, check: CheckResult, exercise: str) -> tuple[str, int | None]:
    """Return the file and the line of a failure, from the root of the repository. A line of a cell is not one."""
    place = check.finding.place if check.finding else None
    name = one_line(place.file).rpartition("/")[2] if place else f"{exercise}.py"
    folder = course.exercises_dir.relative_to(course.root).as_posix()
    path = f"{folder}/{NOTEBOOKS}/{name}" if name.endswith(".ipynb") else f"{folder}/{name}"
    return path, place.line if place and place.cell is None else None


def _escaped(text: str, more: str = "") -> str:
    """Return text that cannot end a workflow command or one of its properties."""
    return re.sub(f"[%\r\n{more}]", lambda match: f"%{ord(match[0]):02X}", text)


def _workflow(make: Callable[[Course], str]) -> Callable[[ExportOptions, Course], ExportResult]:
    return lambda options, course: write_text(options, make(course))


FORMATS = (
    Format("annotations", each(annotations, ".txt")),
    Format("code-quality", each(code_quality, ".json")),
    Format("github-actions", of_course=_workflow(github_actions), needs_solutions=False),
    Format("gitlab-ci", of_course=_workflow(gitlab_ci), needs_solutions=False),
)
