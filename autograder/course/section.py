"""One table of course.toml: its values as the types they should be, and a sentence for each that is not."""

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TypeVar

from autograder.course.lines import KeyPath
from autograder.course.nearest import nearest
from autograder.course.problems import Collector

Value = TypeVar("Value")


class Section:
    """A table at `path`. `label` is how messages name it; a value that is not as expected is noted in `problems`."""

    def __init__(self, table: Mapping[str, object], path: KeyPath, label: str, problems: Collector) -> None:
        self.table = table
        self.path = path
        self.label = label
        self.problems = problems

    def note(self, key: str, message: str) -> None:
        """Note a mistake at one of the keys."""
        self.problems.add((*self.path, key), f"{self.label}: {message}" if self.label else message)

    def value(
        self, key: str, expected: str, accept: Callable[[object], Value | None], *, required: bool = True
    ) -> Value | None:
        """Return what `accept` makes of a value, or None: it is left out, or not as expected, which is noted."""
        if key not in self.table:
            if required:
                self.note(key, f"{key} is missing, expected {expected}")
            return None
        accepted = accept(self.table[key])
        if accepted is None:
            self.note(key, f"{key} is {shown(self.table[key])}, expected {expected}")
        return accepted

    def section(self, key: str) -> "Section":
        """Return the table at a key, which may be left out."""
        table = self.value(key, "a table", as_table, required=False) or {}
        return Section(table, (*self.path, key), f"{self.label} {key}".strip(), self.problems)

    def known(self, *keys: str) -> None:
        """Note every key that is none of these."""
        for key in self.table:
            if key not in keys:
                near = nearest(key, keys)
                hint = f"is {near} meant?" if near else f"expected {', '.join(keys)}"
                self.note(key, f"{key} is not a known key; {hint}")


def shown(value: object) -> str:
    """Return a value as an author wrote it, or what it is where that would be long."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str | bool):
        return shortened(json.dumps(value, ensure_ascii=False))
    if isinstance(value, int) and value.bit_length() > 100:
        return "a huge integer"
    return shortened(str(value))


def shortened(text: str) -> str:
    """Cut a text that is too long for a message."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def as_text(value: object) -> str | None:
    """Accept a string that says something."""
    return value if isinstance(value, str) and value.strip() else None


def as_line(value: object) -> str | None:
    """Accept a string of one line that says something."""
    text = as_text(value)
    return text if text is not None and len(text.splitlines()) == 1 else None


def as_integer(value: object) -> int | None:
    """Accept an integer; true and false are none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_positive(value: object) -> int | None:
    """Accept an integer above 0."""
    number = as_integer(value)
    return number if number is not None and number > 0 else None


def as_number(value: object) -> Decimal | None:
    """Accept a finite number above 0, as exactly as it was written."""
    number = value if isinstance(value, Decimal) else as_integer(value)
    return Decimal(number) if number is not None and Decimal(number).is_finite() and number > 0 else None


def as_table(value: object) -> Mapping[str, object] | None:
    """Accept a table."""
    return value if isinstance(value, dict) else None


def as_texts(value: object) -> tuple[str, ...] | None:
    """Accept a list of strings."""
    return tuple(value) if isinstance(value, list) and all(isinstance(each, str) for each in value) else None


def as_tables(value: object) -> list[Mapping[str, object]] | None:
    """Accept a list of tables that has one at least."""
    return value if isinstance(value, list) and value and all(isinstance(each, dict) for each in value) else None


def as_positives(value: object) -> tuple[int, ...] | None:
    """Accept a list of integers above 0."""
    if not isinstance(value, list):
        return None
    numbers = tuple(number for number in map(as_positive, value) if number is not None)
    return numbers if numbers and len(numbers) == len(value) else None
