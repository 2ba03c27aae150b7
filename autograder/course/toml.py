"""Read one table of a TOML file: its values as the expected types, and a sentence for each other one."""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple, TypeAlias, TypeVar

from autograder.checks import nearest_name
from autograder.protocol import visible

# Find the line of every key of a TOML text: tomllib keeps no positions, and an error message needs a line.

KeyPath = tuple[str | int, ...]
"""The path to a value: `("exercises", 3, "points")` is `points` in the fourth [[exercises]]."""

_TOKEN = re.compile(
    r'''(?P<string>"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')'''
    r"|(?P<comment>\#[^\n]*)|(?P<newline>\n)|(?P<bare>[A-Za-z0-9_-]+)|(?P<mark>[\[\]{}=])",
    re.DOTALL,
)


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def key_lines(text: str) -> dict[KeyPath, int]:
    """Return the line of every table and key of a text that tomllib accepts. Keys inside a value have none."""
    lines: dict[KeyPath, int] = {}
    counts: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for statement in _statements(text):
        first = statement[0]
        if first.text != "[":
            _record(lines, table, _key(statement), first.line)
            continue
        key = _key(statement)
        parent: KeyPath = ()
        for part in key[:-1]:
            parent = _latest((*parent, part), counts)
        table = (*parent, key[-1])
        _record(lines, (), table, first.line)
        if statement[1].text == "[":
            counts[table] = counts.get(table, 0) + 1
            table = _latest(table, counts)
            lines[table] = first.line
    return lines


def line_of(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """Return the line of a key, or of the innermost table around it that has one."""
    return next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), None)


def _statements(text: str) -> Iterator[list[_Token]]:
    """Yield the tokens of each header and of each `key = value`, which may span several lines."""
    statement: list[_Token] = []
    depth = 0
    for token in _tokens(text.replace("\r\n", "\n")):
        if token.kind == "newline" and depth == 0 and statement:
            yield statement
            statement = []
        if token.kind == "mark":
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token.text, 0)
        if token.kind not in ("newline", "comment"):
            statement.append(token)
    if statement:
        yield statement


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        yield _Token(str(match.lastgroup), match.group(), line)
        line += match.group().count("\n")


def _key(statement: list[_Token]) -> KeyPath:
    """Return the parts of the dotted key a statement begins with."""
    end = next((index for index, token in enumerate(statement) if token.text in ("=", "]")), len(statement))
    parts = [token for token in statement[:end] if token.kind in ("bare", "string")]
    return tuple(one.text if one.kind == "bare" else tomllib.loads(f"key = {one.text}")["key"] for one in parts)


def _latest(path: KeyPath, counts: Mapping[KeyPath, int]) -> KeyPath:
    """Return a path that names an array of tables with the index of the latest table."""
    return (*path, counts[path] - 1) if path in counts else path


def _record(lines: dict[KeyPath, int], table: KeyPath, key: KeyPath, line: int) -> None:
    """Record the line of a key and of the tables that its dots open."""
    for end in range(1, len(key) + 1):
        lines.setdefault((*table, *key[:end]), line)


# Collect the mistakes in the files of a course, each with its line, and report them all at once.

COURSE_FILE = "course.toml"


@dataclass(frozen=True)
class Problem:
    """One mistake in a file: a message with what was found and what was expected, and its line if it has one."""

    line: int | None
    message: str
    file: str = COURSE_FILE

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


class CourseError(Exception):
    """A course cannot be read; `problems` has every mistake in it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class Collector:
    """Collects mistakes while a file is read, and finds the line of each key. `more` has those of other files."""

    def __init__(self, text: str, file: str = COURSE_FILE) -> None:
        self._text = text
        self._file = file
        self._problems: list[tuple[KeyPath, str]] = []
        self.more: list[Problem] = []

    def add(self, path: KeyPath, message: str) -> None:
        """Record a mistake in the value at `path`."""
        self._problems.append((path, message))

    def raise_any(self) -> None:
        """Raise `CourseError` with all mistakes in the order of their lines, if there are any."""
        lines = key_lines(self._text) if self._problems else {}
        problems = [Problem(line_of(lines, path), message, self._file) for path, message in self._problems]
        if problems or self.more:
            raise CourseError([*sorted(problems, key=lambda problem: problem.line or 0), *self.more])


# Report a name that does not exist, and suggest the nearest.


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name most similar to `name`, or None if none is similar."""
    return nearest_name(name, names)


def suggestion(name: str, names: Iterable[str], otherwise: str) -> str:
    """Return what a name that does not exist probably means; `otherwise` if no name is similar."""
    near = nearest(name, names)
    return f"did you mean {near}?" if near else otherwise


def unknown(what: str, name: str, near: Iterable[str | None] = (), *, more: str = "") -> str:
    """Return the sentences for a name that does not exist: what was probably meant, and `more`."""
    shown = visible(name)
    meant = " or ".join(f"`{word}`" for word in near if word)
    return " ".join(filter(None, (f"There is no {what} `{shown}`.", meant and f"Did you mean {meant}?", more)))


Value = TypeVar("Value")
Accept: TypeAlias = Callable[[object], Value | None]
"""Returns a value as the expected type; None if it is of another one."""


class Section:
    """A table at `path`. Messages name it by its `label`; `problems` collects the values that are not as expected."""

    def __init__(self, table: Mapping[str, object], path: KeyPath, label: str, problems: Collector) -> None:
        self.table = table
        self.path = path
        self.label = label
        self.problems = problems

    def note(self, key: str, message: str) -> None:
        """Record a mistake at one of the keys."""
        self.problems.add((*self.path, key), f"{self.label}: {message}" if self.label else message)

    def value(self, key: str, expected: str, accept: Accept[Value], *, required: bool = True) -> Value | None:
        """Return the result of `accept` for a value. None if it is missing, or not as expected, which is recorded."""
        if key not in self.table:
            if required:
                self.note(key, f"{key} is missing, expected {expected}")
            return None
        accepted = accept(self.table[key])
        if accepted is None:
            self.note(key, f"{key} is {quoted(self.table[key])}, expected {expected}")
        return accepted

    def texts(self, key: str, expected: str, *, required: bool = True) -> tuple[str, ...]:
        """Return the strings of a list, none if it is missing, or not as expected, which is recorded."""
        return self.value(key, expected, as_texts, required=required) or ()

    def section(self, key: str) -> "Section":
        """Return the table at a key, an empty one if it is missing."""
        table = self.value(key, "a table", as_table, required=False) or {}
        return Section(table, (*self.path, key), f"{self.label} {key}".strip(), self.problems)

    def tables(
        self, key: str, expected: str, accept: Accept[tuple[Mapping[str, object], ...]], *, required: bool = False
    ) -> list["Section"]:
        """Return the tables of an array, each labelled by its id or its number."""
        sections = []
        for index, table in enumerate(self.value(key, expected, accept, required=required) or ()):
            id_ = table.get("id")
            name = quoted(id_) if isinstance(id_, str) else f"number {index + 1}"
            sections.append(Section(table, (*self.path, key, index), f"{key} {name}", self.problems))
        return sections

    def expect_keys(self, *keys: str) -> None:
        """Record every key that is not one of these."""
        for key in self.table:
            if key not in keys:
                hint = suggestion(key, keys, f"expected {', '.join(keys)}")
                self.note(key, f"{key} is not a known key; {hint}")

    def expect_names(self, key: str, names: Iterable[str], known: Sequence[str], what: str, otherwise: str) -> None:
        """Record every name in the list at a key that is not known; `what` says what it is not."""
        for name in names:
            if name not in known:
                hint = suggestion(name, known, otherwise)
                self.note(key, f"{key} lists {quoted(name)}, which is {what}; {hint}")


def quoted(value: object) -> str:
    """Return a value as the author wrote it, or a description if that would be long."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str | bool):
        return shortened(json.dumps(value, ensure_ascii=False))
    if isinstance(value, int) and value.bit_length() > 100:  # Python refuses to write very long ones as decimals
        return "a huge integer"
    return shortened(str(value))


def shortened(text: str, most: int = 60) -> str:
    """Return a text, cut if it is too long for a message."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def as_text(value: object) -> str | None:
    """Accept a string that is not blank."""
    return value if isinstance(value, str) and value.strip() else None


def as_match(pattern: str | re.Pattern[str]) -> Accept[str]:
    """Accept a string that a pattern matches as a whole."""
    return lambda value: value if isinstance(value, str) and re.fullmatch(pattern, value) else None


def as_line(value: object) -> str | None:
    """Accept a string of one line that is not blank."""
    text = as_text(value)
    return text if text is not None and len(text.splitlines()) == 1 else None


def as_flag(value: object) -> bool | None:
    """Accept true or false."""
    return value if isinstance(value, bool) else None


def as_integer(value: object) -> int | None:
    """Accept an integer, but not true or false, which are ints in Python."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_integer_to(most: int) -> Accept[int]:
    """Accept an integer from 0 to `most`."""
    return lambda value: number if (number := as_integer(value)) is not None and 0 <= number <= most else None


def as_positive(value: object) -> int | None:
    """Accept an integer above 0."""
    number = as_integer(value)
    return number if number is not None and number > 0 else None


def as_number(value: object) -> Decimal | None:
    """Accept a finite number above 0, exactly as written."""
    number = value if isinstance(value, Decimal) else as_integer(value)
    return Decimal(number) if number is not None and Decimal(number).is_finite() and number > 0 else None


def as_number_to(most: Decimal) -> Accept[Decimal]:
    """Accept a number above 0 and at most `most`."""
    return lambda value: number if (number := as_number(value)) is not None and number <= most else None


def as_table(value: object) -> Mapping[str, object] | None:
    """Accept a table."""
    return value if isinstance(value, dict) else None


def as_list(accept: Accept[Value], least: int = 0) -> Accept[tuple[Value, ...]]:
    """Accept a list of at least so many values, if each of them is accepted."""

    def accepted(value: object) -> tuple[Value, ...] | None:
        found = [accept(item) for item in value] if isinstance(value, list) else [None]
        items = tuple(item for item in found if item is not None)
        return items if least <= len(items) == len(found) else None

    return accepted


as_texts = as_list(lambda value: value if isinstance(value, str) else None)
as_tables = as_list(as_table, 1)
