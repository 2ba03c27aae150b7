"""The autograder zip for Gradescope: the course, this engine, setup.sh and run_autograder."""

import re
import zipfile
from collections.abc import Collection, Iterator
from importlib import metadata
from pathlib import Path

import autograder
from autograder import DISTRIBUTION, ending
from autograder.course import Course
from autograder.course.libraries import EXTRAS
from autograder.instructor.gradebook.graded import ExportError
from autograder.instructor.gradebook.gradescope import unfinished
from autograder.instructor.gradebook.script_files import script
from autograder.submission.files import printable

_TIME = (1980, 1, 1, 0, 0, 0)
"""The same time for every file, so that the zip depends on their content alone."""

_SEED = ".course/grading_seed"
_LEFT_OUT = {"__pycache__", ".git", ".venv", ".ipynb_checkpoints"}


def write_autograder(course: Course, to: Path, roster: Path | None) -> int:
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
    files |= {"requirements.txt": _requirements(course.libraries).encode(), "unfinished.json": unfinished().encode()}
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
