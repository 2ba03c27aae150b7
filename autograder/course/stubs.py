"""Make the stubs that students fill in: each solution region becomes a NotImplementedError that names its TODO."""

import re
from pathlib import Path

from autograder.course import Course, Exercise

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"

DEFINITION = re.compile(r"^(\s*)(def|class) (\w+)")


class StubError(Exception):
    """A solution cannot be turned into a stub; the message is a sentence with its file and line."""


def make_stub(solution: str, exercise: Exercise) -> str:
    """Return the stub of a solution's text.

    An indented region becomes `raise NotImplementedError("ex05: NAME")`; a region at the margin is omitted.
    """
    lines: list[str] = []
    owner, function, begun = "", "", 0
    for number, line in enumerate(solution.splitlines(), 1):
        mark = line.strip()
        if mark == BEGIN:
            if begun:
                raise StubError(f"{exercise.file}:{number}: this region begins inside the region of line {begun}")
            begun = number
            indent = line[: len(line) - len(line.lstrip())]
            if indent:
                lines.append(f'{indent}raise NotImplementedError("{exercise.id[:4]}: {function}")')
        elif mark == END:
            if not begun:
                raise StubError(f"{exercise.file}:{number}: this region has no {BEGIN}")
            begun = 0
        elif not begun:
            if match := DEFINITION.match(line):
                indent, kind, name = match.groups()
                owner = name if kind == "class" else owner if indent else ""
                function = f"{owner}.{name}" if indent and owner else name
            lines.append(line)
    if begun:
        raise StubError(f"{exercise.file}:{begun}: this region has no {END}")
    return re.sub(r"\n{3,}", "\n\n\n", "\n".join(lines)).rstrip() + "\n"


def stale_stubs(course: Course) -> dict[Path, str]:
    """Return the expected text of every stub that is missing or differs from its solution."""
    stale = {}
    for exercise in course.exercises:
        stub = make_stub((course.solutions_dir / exercise.file).read_text("utf-8"), exercise)
        file = course.exercises_dir / exercise.file
        if not file.is_file() or file.read_text("utf-8") != stub:
            stale[file] = stub
    return stale
