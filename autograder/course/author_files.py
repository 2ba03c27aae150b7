"""Find the files of an author that a command could not read, before it begins: missing ones, and ones that are no text.

A kit has none of these files.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.course.model import Course, Exercise
from autograder.course.names import UsageError
from autograder.course.problems import COURSE_FILE
from autograder.course.storage import read_plain

VARIANT = "an accepted variant"


def require_texts(course: Course, exercises: Iterable[Exercise]) -> None:
    """Raise `UsageError` with a sentence for every file of these exercises that is missing or cannot be read.

    The files of what they need are among them.
    """
    needed = (need for exercise in exercises for need in course.with_all_needs(exercise))
    if problems := dict.fromkeys(problem for need in needed for problem in _problems(course, need)):
        raise UsageError("\n".join(problems))


def _problems(course: Course, exercise: Exercise) -> Iterator[str]:
    solution = course.solutions_dir / exercise.file
    for file, what in _files(course, exercise):
        name = file.relative_to(course.root)
        if file != solution and not file.exists():
            continue  # only a solution must exist; the checks have a sentence of their own
        try:
            text = read_plain(file).decode("utf-8")
            if file == solution or what == VARIANT:
                compile(text, str(name), "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        except FileNotFoundError:
            remedy = f"write it there, or take {exercise.id} out of {COURSE_FILE}"
            yield f"{exercise.id} has no solution: {name} is missing; {remedy}"
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            found = f"line {line} has the byte 0x{error.object[error.start]:02x}, expected UTF-8"
            yield f"{name}, {what} of {exercise.id}, is no text: {found}; save it as UTF-8"
        except (SyntaxError, ValueError) as error:
            where = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)
            yield f"{name}, {what} of {exercise.id}, is no Python ({where}); correct it"
        except OSError as error:
            expected = f"expected {what} of {exercise.id}"
            yield f"{name} cannot be read ({error.strerror}), {expected}; put a file there that you may read"


def _files(course: Course, exercise: Exercise) -> Iterator[tuple[Path, str]]:
    """Yield the files of an exercise that its author writes, with what each is."""
    solutions = course.solutions_dir
    yield solutions / exercise.file, "the solution"
    yield course.checks_file(exercise), "the checks"
    yield course.steps_file(exercise), "the steps of the worked example"
    yield solutions / "misconceptions" / f"{exercise.id}.toml", "the misconceptions"
    yield solutions / "equivalents" / f"{exercise.id}.toml", "the list of equivalent mutants"
    yield course.part_sources_dir / exercise.file, "the source of the reference part"
    accepted = solutions / "accepted"
    variants = [*sorted((accepted / exercise.id).glob("*.py")), *sorted(accepted.glob(f"whole/*/{exercise.file}"))]
    yield from ((file, VARIANT) for file in variants)
