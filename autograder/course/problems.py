"""Collect the mistakes in a course.toml, each with its line, and report them all at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.course.lines import KeyPath, key_lines, line_of

COURSE_FILE = "course.toml"


@dataclass(frozen=True)
class Problem:
    """One mistake: a message with what was found and what was expected, and its line if it has one."""

    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{COURSE_FILE}:{self.line}: {self.message}" if self.line else f"{COURSE_FILE}: {self.message}"


class CourseError(Exception):
    """A course cannot be read; `problems` has every mistake in it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class Collector:
    """Collects mistakes while a course.toml is read, and finds the line of each key."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._problems: list[tuple[KeyPath, str]] = []

    def add(self, path: KeyPath, message: str) -> None:
        """Record a mistake in the value at `path`."""
        self._problems.append((path, message))

    def raise_any(self) -> None:
        """Raise `CourseError` with all mistakes in the order of their lines, if there are any."""
        if self._problems:
            lines = key_lines(self._text)
            problems = [Problem(line_of(lines, path), message) for path, message in self._problems]
            raise CourseError(sorted(problems, key=lambda problem: problem.line or 0))
