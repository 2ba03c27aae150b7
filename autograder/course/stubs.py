"""Make the stubs that students fill in: each solution region becomes a NotImplementedError that names its TODO."""

import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from autograder.course.kit_files import stubs_dir
from autograder.course.model import Course, Exercise
from autograder.course.storage import read_plain, read_text
from autograder.protocol.functions import Outline, outline_of

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"

DEFINITION = re.compile(r"^(\s*)(def|class) (\w+)")


class StubError(Exception):
    """A solution cannot be turned into a stub; the message is a sentence with its file and line."""


def make_stub(solution: str, exercise: Exercise) -> str:
    """Return the stub of a solution's text.

    A region inside a function becomes `raise NotImplementedError("ex05: NAME")`. A region elsewhere, with helpers or
    methods of the solution's own, is omitted: a module or class that raises could not be imported.
    """
    lines: list[str] = []
    owner, function, begun = "", "", 0
    margin: int | None = None  # of the function that the line may belong to
    for number, line in enumerate(solution.splitlines(), 1):
        mark = line.strip()
        if mark == BEGIN:
            if begun:
                where = f"above the {BEGIN} of line {number}"
                raise StubError(f"{exercise.file}:{begun}: this region has no {END}; write one {where}")
            begun = number
            indent = line[: len(line) - len(line.lstrip())]
            if margin is not None and len(indent) > margin:
                lines.append(f'{indent}raise NotImplementedError("{exercise.id[:4]}: {function}")')
        elif mark == END:
            if not begun:
                raise StubError(f"{exercise.file}:{number}: this region has no {BEGIN}")
            begun = 0
        elif not begun:
            if match := DEFINITION.match(line):
                indent, kind, name = match.groups()
                margin = len(indent) if kind == "def" else None
                owner = name if kind == "class" else owner if indent else ""
                function = f"{owner}.{name}" if indent and owner else name
            lines.append(line)
    if begun:
        raise StubError(f"{exercise.file}:{begun}: this region has no {END}")
    return re.sub(r"\n{3,}", "\n\n\n", "\n".join(lines)).rstrip() + "\n"


def todo_comment(stub: str, name: str) -> str:
    """Return the comment above the TODO of a function or method in a stub, without its `TODO` mark; "" without one."""
    todo = next((function.todo for function in outline_of(stub).functions if function.name == name), 0)
    lines = [line.strip() for line in stub.splitlines()[: max(todo - 1, 0)]]
    comment = list(takewhile(lambda line: line.startswith("#"), reversed(lines)))[::-1]
    text = " ".join(line.lstrip("# ") for line in comment)
    text = re.sub(r"^TODO[^:]*:\s*", "", text)
    return text if not text or text.endswith((".", "?", "!")) else f"{text}."


def stub_text(course: Course, exercise: Exercise) -> str | None:
    """Return the stub of an exercise, from its solution or from the kit's copy; None if there is neither.

    Raises `StubError` if the solution is no text, or cannot be turned into a stub.
    """
    solution = course.solutions_dir / exercise.file
    if solution.is_file():
        try:
            return make_stub(read_text(solution), exercise)
        except UnicodeDecodeError:
            raise StubError(f"{solution} is no text in UTF-8; save it as UTF-8") from None
    kept = stubs_dir(course) / exercise.file
    return read_plain(kept).decode("utf-8") if kept.is_file() else None


def outline_of_stub(course: Course, exercise: Exercise) -> Outline | None:
    """Return the outline of an exercise's stub; None if there is no stub, or it cannot be read."""
    try:
        text = stub_text(course, exercise)
        return outline_of(text) if text is not None else None
    except (StubError, OSError, SyntaxError, ValueError):
        return None


def stale_stubs(course: Course, exercises: Sequence[Exercise] | None = None) -> dict[Path, str]:
    """Return the expected text of every stub that is missing or differs from its solution; of all, or of some."""
    stale = {}
    for exercise in course.exercises if exercises is None else exercises:
        stub = make_stub(read_text(course.solutions_dir / exercise.file), exercise)
        file = course.exercises_dir / exercise.file
        if not file.is_file() or read_text(file) != stub:
            stale[file] = stub
    return stale
