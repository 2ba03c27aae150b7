"""Checks in a student's repository: the workflows for GitHub and GitLab, and the lines that they mark."""

import hashlib
import json
import re
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

from autograder.answer_key import file_digest, read_manifest
from autograder.course import MANIFEST, Course, is_kit, read_course, write_atomically
from autograder.gradebook import ExportError, Graded, Mark
from autograder.report import message_of, number, one_line
from autograder.results import CheckResult, ExerciseResult
from autograder.submission import NOTEBOOKS, printable

from .feedback import failing
from .formats import ExportOptions, ExportResult, Format, each, write_text

TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
"""An index with builds of torch without CUDA: they save gigabytes."""


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


# The student's kit, and scripts, for platforms that grade where everybody can read: nothing else may be in them.

MEGABYTE = 1 << 20


def public_kit(course: Course, kit: Path) -> dict[str, bytes]:
    """Return the files of a kit by their paths below `kit/`. Raises `ExportError` if it is no unchanged kit, or leaks.

    What was put beside the files of the release is left out.
    """
    where = printable(kit)
    if not (kit / "course.toml").is_file() or not is_kit(read := read_course(kit)):
        raise ExportError(f"{where} is not a kit, expected a folder that course release wrote")
    if {exercise.id for exercise in read.exercises} - {exercise.id for exercise in course.every}:
        raise ExportError(f"{where} is the kit of another course, expected one of {course.title}")
    files = {f"kit/{MANIFEST}": (kit / MANIFEST).read_bytes()}
    for name, digest in read_manifest(kit).files.items():
        file = kit / name
        data = file.read_bytes() if file.is_file() else b""
        if file_digest(data) != digest:
            raise ExportError(f"{where}/{printable(name)} is missing or changed; run course release into a new folder")
        files[f"kit/{name}"] = data
    from autograder.authoring import examine_kit  # an application beside this one

    leaks = [leak for leak in examine_kit(course, kit) if f"kit/{leak.file}" in files]
    if leaks:
        raise ExportError(f"{leaks[0].sentence}; nothing was written")
    return files


def write_files(to: Path, files: Mapping[str, bytes | str], most: int | None = None) -> int:
    """Write files below a folder, each atomically, and return their number. Scripts can be run.

    Raises `ExportError` if they are larger than `most` bytes when packed, or `to` is a file; and OSError.
    """
    if to.exists() and not to.is_dir():
        raise ExportError(f"{printable(to)} is a file, expected a folder; name another one")
    contents = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    size = sum(len(zlib.compress(data)) for data in contents.values())
    if most is not None and size > most:
        found = f"the files have {size / MEGABYTE:.1f} MB when packed, and the platform takes {most / MEGABYTE:g} MB"
        raise ExportError(f"{found}; release a part of the course with course release --take")
    for name, data in contents.items():
        file = to / name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, data, mode=0o755 if name.endswith(".sh") else 0o644)
    return len(contents)


# The scripts and configurations that platforms run, each in a file of its own in scripts/.

_FOLDER = Path(__file__).parent / "scripts"


def script(name: str) -> str:
    """Return the text of a file in scripts/."""
    return (_FOLDER / name).read_text("utf-8")
