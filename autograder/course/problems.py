"""The mistakes of a course.toml: each with its line, all of them reported at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.course.lines import KeyPath, key_lines, line_of

COURSE_FILE = "course.toml"


@dataclass(frozen=True)
class Problem:
    """One mistake: what was found, what was expected, and its line where it has one."""

    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{COURSE_FILE}:{self.line}: {self.message}" if self.line else f"{COURSE_FILE}: {self.message}"


class CourseError(Exception):
    """The course cannot be read; `problems` has every mistake that was found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class Collector:
    """Gathers mistakes while a course.toml is read, and knows the line of each key."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._problems: list[tuple[KeyPath, str]] = []

    def add(self, path: KeyPath, message: str) -> None:
        """Note a mistake in the value at `path`."""
        self._problems.append((path, message))

    def raise_any(self) -> None:
        """Raise `CourseError` if any mistake was noted, in the order of the lines."""
        if self._problems:
            lines = key_lines(self._text)
            problems = [Problem(line_of(lines, path), message) for path, message in self._problems]
            raise CourseError(sorted(problems, key=lambda problem: problem.line or 0))
