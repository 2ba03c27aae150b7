"""Gradescope: results.json (https://gradescope-autograders.readthedocs.io/en/latest/specs/)."""

import json
import re
import zipfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, cast

import autograder
from autograder import DISTRIBUTION, ending
from autograder.course import EXTRAS, Course
from autograder.gradebook import Clue, Exporter, ExportError, Graded, Mark, handed_in_at, parse_time
from autograder.report import STATES, one_line, plural, state_of
from autograder.results import CheckResult, ExerciseResult
from autograder.submission import printable

from .feedback import check_text, notes, why_no_score
from .formats import ExportOptions, ExportResult, Format, script, write_each

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


# The autograder zip for Gradescope: the course, this engine, setup.sh and run_autograder.

_TIME = (1980, 1, 1, 0, 0, 0)
"""The same time for every file, so that the zip depends on their content alone."""

_SEED = ".course/grading_seed"
_LEFT_OUT = {"__pycache__", ".git", ".venv", ".ipynb_checkpoints"}


def write_gradescope_autograder(course: Course, to: Path, roster: Path | None) -> int:
    """Write the zip and return its number of files; the same course gives the same bytes.

    It has a roster only if one is given. Raises `ExportError`, and OSError.
    """
    if to.suffix != ".zip":
        raise ExportError(f"{printable(to)} is not the name of a zip, expected one like autograder.zip")
    missing = [exercise.file for exercise in course.exercises if not (course.solutions_dir / exercise.file).is_file()]
    if missing:
        raise ExportError(
            f"solutions/{missing[0]} is missing, and grading needs it; run this in a course with solutions"
        )
    files = dict(sorted({**_course(course), **_engine()}.items()))
    if roster is not None:
        files["roster.csv"] = roster.read_bytes()
    requirements = _requirements(course.every_library)
    files |= {"requirements.txt": requirements.encode(), "unfinished.json": unfinished().encode()}
    scripts = {"setup.sh": script("gradescope_setup.sh"), "run_autograder": script("gradescope_run.sh")}
    with ending.temporary(lambda: to.with_name(f".{to.name}.part")) as temporary:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in (*((name, text.encode()) for name, text in scripts.items()), *files.items()):
                info = zipfile.ZipInfo(name, _TIME)
                # Zip files keep Unix permissions in the upper half; Gradescope runs both scripts.
                info.external_attr = (0o100755 if name in scripts else 0o100644) << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, content)
        temporary.replace(to)
    return len(scripts) + len(files)


def _course(course: Course) -> dict[str, bytes]:
    """Return the files of the course and its secret seed, so that all students get the same seed."""
    folders = (course.exercises_dir, course.solutions_dir, course.checks_dir)
    files = [course.root / "course.toml", *(file for folder in folders for file in _files(folder))]
    files += [file for file in (course.root / _SEED,) if file.is_file()]
    return {file.relative_to(course.root).as_posix(): file.read_bytes() for file in files}


def _engine() -> dict[str, bytes]:
    root = Path(autograder.__file__).parent
    return {f"autograder/{file.relative_to(root).as_posix()}": file.read_bytes() for file in _files(root)}


def _files(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.is_symlink() and not _LEFT_OUT & set(file.relative_to(folder).parts):
            yield file


def _requirements(libraries: Collection[str]) -> str:
    """Return the requirements of the engine, and the libraries of a course, in the versions installed here."""

    def needed(requirement: str) -> bool:
        extra = re.search(r"extra == [\"'](\w+)", requirement)
        return extra is None or (extra[1] in EXTRAS and extra[1] in libraries)

    try:
        needs = [*filter(needed, metadata.requires(DISTRIBUTION) or ())]
    except metadata.PackageNotFoundError:
        raise ExportError(
            "the kit is not installed, so its requirements are unknown; in its folder, run pip install -e ."
        ) from None
    names = [match[0] for requirement in needs if (match := re.match(r"[A-Za-z0-9._-]+", requirement))]
    own = [*names, *(name for name in libraries if name not in names)]
    return "".join(f"{name}=={metadata.version(name).split('+')[0]}\n" for name in sorted(own))


def _gradescope(options: ExportOptions, graded: Graded) -> ExportResult:
    if options.metadata is not None:
        graded = handed_in(graded, options.metadata)
    visibility, checks = cast("Visibility", options.visibility or "visible"), options.check_visibility
    seen = Seen(visibility, cast("Visibility | None", checks))
    return write_each(options, graded, gradescope(graded, seen), ".json")


def _gradescope_autograder(options: ExportOptions, course: Course) -> ExportResult:
    count = write_gradescope_autograder(course, Path(options.to), options.roster)
    return ExportResult(
        [f"Written: {options.to}, {plural(count, 'file')}; it holds the solutions, so give it to nobody else"]
    )


FORMATS = (
    Format("gradescope", _gradescope, options=("visibility", "check_visibility", "metadata"), of_a_term=True),
    Format("gradescope-autograder", of_course=_gradescope_autograder),
)
