"""Find the files that belong to no exercise of course.toml: those of an exercise that was removed or renamed."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.course import Course
from autograder.course.exercises import ID
from autograder.course.model import STEPS_PREFIX
from autograder.course.nearest import suggestion
from autograder.course.problems import COURSE_FILE

OF_EXERCISES = (
    *("exercises/{}.py", "exercises/notebooks/{}.ipynb", "solutions/{}.py"),
    *("tests/exercises/test_{}.py", f"tests/exercises/{STEPS_PREFIX}{{}}.py"),
    *("solutions/misconceptions/{}.toml", "solutions/equivalents/{}.toml", "solutions/accepted/{}"),
    *("solutions/accepted/whole/*/{}.py", "solutions/accepted/whole/*/{}.toml"),
    *("solutions/reference_parts/{}.py", "tests/exercises/reference_parts/{}.json"),
)
"""The files and folders of an exercise, with {} for its id."""

MADE = ("exercises/", "tests/exercises/reference_parts/")
"""Where `course build` writes."""

_MAY_HAVE_OTHERS = ("exercises/{}.py", "exercises/notebooks/{}.ipynb", "solutions/{}.py")
"""Here files with other names than those of exercises are no leftovers: an author may have helpers and drafts."""


def leftovers(course: Course) -> dict[str, list[str]]:
    """Return the files of no exercise, relative to the course, by the id that their names have."""
    known = {exercise.id for exercise in course.every}
    found: dict[str, list[str]] = {}
    for pattern in OF_EXERCISES:
        before, after = Path(pattern).name.split("{}")
        for file in sorted(course.root.glob(pattern.replace("{}", "*"))):
            name = file.name.removeprefix(before).removesuffix(after)
            if name in known or _is_other(pattern, name, file):
                continue
            found.setdefault(name, []).append(file.relative_to(course.root).as_posix())
    return found


def leftover_problems(course: Course) -> Iterator[str]:
    """Yield a sentence for each id that files have and no exercise has."""
    ids = [exercise.id for exercise in course.every]
    for name, files in leftovers(course).items():
        yield f"{', '.join(files)}: {COURSE_FILE} has no exercise {name}; {suggestion(name, ids, _remedy(files))}"


def made_leftovers(course: Course) -> list[str]:
    """Return the files of no exercise that an earlier `course build` made, relative to the course."""
    return [file for files in leftovers(course).values() for file in files if file.startswith(MADE)]


def is_leftover(course: Course, file: Path) -> bool:
    """Say whether a file beside the checks has the name of checks or steps, but no exercise that the class takes."""
    taken = {exercise.id for exercise in course.exercises}
    named = re.fullmatch(rf"(?:test_|{STEPS_PREFIX})(.+)\.py", file.name)
    return file.parent == course.checks_dir and named is not None and named[1] not in taken


def _is_other(pattern: str, name: str, file: Path) -> bool:
    """Whether a file is none of an exercise that was removed: a helper, a folder without programs, whole courses."""
    if pattern.endswith("accepted/{}"):
        return name == "whole" or not any(file.glob("*.py"))
    return pattern in _MAY_HAVE_OTHERS and not ID.fullmatch(name)


def _remedy(files: Sequence[str]) -> str:
    return "rename the file, or remove it" if len(files) == 1 else "rename the files, or remove them"
