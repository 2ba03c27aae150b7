"""Read one table of course.toml: its values as the expected types, and a sentence for each other one."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias, TypeVar

from autograder.course.lines import KeyPath
from autograder.course.nearest import suggestion
from autograder.course.problems import Collector

Value = TypeVar("Value")
Tables: TypeAlias = list[Mapping[str, object]]


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

    def value(
        self, key: str, expected: str, accept: Callable[[object], Value | None], *, required: bool = True
    ) -> Value | None:
        """Return the result of `accept` for a value. None if it is missing, or not as expected, which is recorded."""
        if key not in self.table:
            if required:
                self.note(key, f"{key} is missing, expected {expected}")
            return None
        accepted = accept(self.table[key])
        if accepted is None:
            self.note(key, f"{key} is {quoted(self.table[key])}, expected {expected}")
        return accepted

    def section(self, key: str) -> "Section":
        """Return the table at a key, an empty one if it is missing."""
        table = self.value(key, "a table", as_table, required=False) or {}
        return Section(table, (*self.path, key), f"{self.label} {key}".strip(), self.problems)

    def tables(
        self, key: str, expected: str, accept: Callable[[object], "Tables | None"], *, required: bool = False
    ) -> list["Section"]:
        """Return the tables of an array, each labelled by its id or its number."""
        sections = []
        for index, table in enumerate(self.value(key, expected, accept, required=required) or []):
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


def shortened(text: str) -> str:
    """Return a text, cut if it is too long for a message."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def as_text(value: object) -> str | None:
    """Accept a string that is not blank."""
    return value if isinstance(value, str) and value.strip() else None


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


def as_positive(value: object) -> int | None:
    """Accept an integer above 0."""
    number = as_integer(value)
    return number if number is not None and number > 0 else None


def as_number(value: object) -> Decimal | None:
    """Accept a finite number above 0, exactly as written."""
    number = value if isinstance(value, Decimal) else as_integer(value)
    return Decimal(number) if number is not None and Decimal(number).is_finite() and number > 0 else None


def as_table(value: object) -> Mapping[str, object] | None:
    """Accept a table."""
    return value if isinstance(value, dict) else None


def as_texts(value: object) -> tuple[str, ...] | None:
    """Accept a list of strings."""
    return tuple(value) if isinstance(value, list) and all(isinstance(text, str) for text in value) else None


def as_tables(value: object) -> Tables | None:
    """Accept a list of at least one table."""
    return value if isinstance(value, list) and value and all(isinstance(table, dict) for table in value) else None


def as_positives(value: object) -> tuple[int, ...] | None:
    """Accept a list of integers above 0."""
    if not isinstance(value, list):
        return None
    numbers = tuple(number for number in map(as_positive, value) if number is not None)
    return numbers if numbers and len(numbers) == len(value) else None
