"""Read course.toml into frozen types, and report every mistake in it at once."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path

from autograder.course.assignments import read_assignments
from autograder.course.exercises import read_exercises
from autograder.course.grading import read_grading
from autograder.course.libraries import read_libraries
from autograder.course.model import Columns, Course, Limits
from autograder.course.parts import read_other_sizes
from autograder.course.play import read_play
from autograder.course.problems import COURSE_FILE, Collector, CourseError, Problem
from autograder.course.section import Section, as_flag, as_integer, as_positive, as_text
from autograder.course.sizes import read_sizes
from autograder.course.storage import read_plain
from autograder.course.taking import read_take, taking
from autograder.course.words import read_words
from autograder.formats import COURSE

__all__ = ["CourseError", "Problem", "find_course", "read_course"]

KEYS = (
    *("format", "title", "seed", "points", "take", "libraries", "questions", "limits", "sizes", "words"),
    *("forbidden_groups", "parts", "exercises", "grading", "play", "assignments"),
)
"""The keys of course.toml."""

NO_SIZES: Columns = ({},)
"""The one column of a course without axes: each trial has it."""


def find_course(start: Path | None = None) -> Path:
    """Return the nearest folder with a course.toml, at or above `start` or the working folder.

    Raises `CourseError` if there is none.
    """
    try:
        folder = (start or Path.cwd()).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise _error(f"the working folder cannot be read ({error}); go to the folder of your course") from None
    for candidate in (folder, *folder.parents):
        if _has_course(candidate):
            return candidate
    raise _error(f"not found in {folder} or any folder above; go to the folder of your course and try again")


def read_course(root: Path, *, empty: bool = False) -> Course:
    """Read root/course.toml. Raises `CourseError` with all its mistakes. The files it mentions need not exist.

    With `empty`, the course may have no exercises yet.
    """
    text = _text(root / COURSE_FILE)
    data = _parsed(text)
    problems = Collector(text)
    top = Section(data, (), "", problems)
    _check_format(top)
    top.expect_keys(*KEYS)
    libraries = read_libraries(top)
    exercises, parts = read_exercises(top, libraries, required=not empty)
    ids = [exercise.id for exercise in exercises]
    course = Course(
        root=root,
        title=top.value("title", "a string", as_text) or "",
        seed=top.value("seed", "an integer", as_integer) or 0,
        limits=_limits(top.section("limits")),
        sizes=read_sizes(top) if "sizes" in top.table else NO_SIZES,
        exercises=exercises,
        words=read_words(top, top),
        play=read_play(top, ids),
        questions=top.value("questions", "true or false", as_flag, required=False) is not False,
        libraries=libraries,
        parts=parts,
    )
    course = taking(course, read_take(top, course))
    course = replace(course, assignments=read_assignments(top, course))
    course = replace(course, grading=read_grading(top, ids, [exercise.id for exercise in course.exercises]))
    problems.raise_any()
    return course


def _check_format(top: Section) -> None:
    """Raise `CourseError` for a course of another format: what else looks wrong may be right in that format."""
    number = top.value("format", "a whole number above 0", as_positive, required=False)
    if number is not None and (problem := COURSE.problem_of(number)):
        top.note("format", problem)
        top.problems.raise_any()


def with_sizes(course: Course, file: Path) -> Course:
    """Return the course with the sizes of another TOML file: [sizes], and [[parts]] with an id and sizes.

    Raises `CourseError` with all its mistakes.
    """
    text = _text(file)
    problems = Collector(text)
    top = Section(_parsed(text), (), "", problems)
    top.expect_keys("sizes", "parts")
    sizes = read_sizes(top)
    parts = read_other_sizes(top, course.parts)
    problems.raise_any()
    return replace(course, sizes=sizes, parts=parts)


def _has_course(folder: Path) -> bool:
    try:
        return (folder / COURSE_FILE).is_file()
    except OSError:
        return False


def _error(message: str, line: int | None = None) -> CourseError:
    return CourseError([Problem(line, message)])


def _text(path: Path) -> str:
    try:
        return read_plain(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        found = f"found the byte 0x{error.object[error.start]:02x}"
        raise _error(f"{found}, expected UTF-8; save the file as UTF-8", line) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise _error(f"cannot read {path} ({reason}); give the folder of a course") from None


def _parsed(text: str) -> Mapping[str, object]:
    """Return the tables of a TOML text. Fractions become decimals, so that points of 2.55 stay exactly 2.55."""
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except RecursionError:
        raise _error("lists or tables are nested too deeply; expected three levels at most") from None
    except (ValueError, ArithmeticError) as error:  # ArithmeticError: an exponent too large for a decimal
        position = re.search(r"\(at (?:line (\d+), column \d+|end of document)\)", str(error))
        reason = str(error).replace(position.group(), "").strip() if position else str(error)
        line = int(position[1]) if position and position[1] else text.count("\n") + 1 if position else None
        raise _error(f"this is not TOML: {reason}", line) from None


def _limits(section: Section) -> Limits:
    names = [field.name for field in fields(Limits)]
    section.expect_keys(*names)
    default = Limits()
    read = {
        name: section.value(name, "an integer above 0", as_positive, required=False) or getattr(default, name)
        for name in names
    }
    return Limits(**read)
