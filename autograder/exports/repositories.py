"""Checks where a platform runs them: workflows for GitHub and GitLab, Classroom 50, and PrairieLearn."""

import hashlib
import json
import os
import re
import zlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.answer_key import file_digest, read_manifest
from autograder.course import MANIFEST, Course, is_kit, read_course, write_atomically
from autograder.gradebook import Exporter, ExportError, Graded, Mark
from autograder.report import message_of, number, one_line
from autograder.report import notes as intake_notes
from autograder.results import CheckResult, ExerciseResult, Report
from autograder.submission import NOTEBOOKS, commit_time, printable

from .feedback import check_text, failing, notes, why_no_score
from .formats import ExportOptions, ExportResult, Format, each, write_each, write_public, write_text

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


# Classroom 50: result.json of classroom50/result/v1, and the folder that grades with the student's kit.
#
# https://github.com/foundation50/classroom50/wiki/Advanced-Autograding and schemas/result-v1.schema.json there.

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


# PrairieLearn: results.json of an external grader, and the image that makes it.
#
# https://docs.prairielearn.com/externalGrading/; apps/prairielearn/src/lib/externalGraderCommon.ts reads the file.

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
    Format("annotations", each(annotations, ".txt")),
    Format("code-quality", each(code_quality, ".json")),
    Format("github-actions", of_course=_workflow(github_actions), needs_solutions=False),
    Format("gitlab-ci", of_course=_workflow(gitlab_ci), needs_solutions=False),
    Format("classroom50", _classroom50),
    Format("classroom50-autograder", of_course=_classroom50_autograder, options=("kit",)),
    Format("prairielearn", each(prairielearn, ".json")),
    Format("prairielearn-grader", of_course=_prairielearn_grader, options=("kit",)),
)
