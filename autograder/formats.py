"""The formats of the files that outlive a version of the engine, and how their JSON becomes typed values.

This is the only list of their numbers. A number is raised when a file with the number before would be refused or read
wrongly. A field that old readers may ignore does not raise it. Each reader asks `problem_of`, and shows its sentence.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from autograder import __version__
from autograder.protocol import FORMAT


@dataclass(frozen=True)
class Format:
    """One format: the number that is written now, the oldest that is still read, and what to do with an older one.

    `name` is the subject of its sentences.
    """

    name: str
    number: int
    upgrade: str
    oldest: int = 1

    def problem_of(self, found: object) -> str | None:
        """Return a sentence for a number that this engine does not read; None if it does."""
        if type(found) is int and self.oldest <= found <= self.number:
            return None
        numbers = f"format {self.number}" if self.oldest == self.number else f"formats {self.oldest} to {self.number}"
        reads = f"this engine (version {__version__}) reads {numbers}"
        if type(found) is not int:
            return f"{self.name} names no format, but {reads}; {self.upgrade}"
        remedy = "install a newer engine" if found > self.number else self.upgrade
        return f"{self.name} has format {found}, but {reads}; {remedy}"


# In the order of docs/formats.md, which says what each of them holds.
COURSE = Format("this course", 1, "change what docs/formats.md lists, then set format in course.toml")
KEY = Format("the answer key of this kit", 1, "install the kit's own engine (pip install -e .), or take the kit anew")
REPORT = Format("this report", 1, "grade or check again")
REFERENCE_PART = Format("this reference part", FORMAT, "`course build --force` makes it anew")

# JSON read back by the types of dataclasses.

Decoded = TypeVar("Decoded")


class Unreadable(ValueError):
    """Data that does not have the wanted type: it is damaged, or of another version."""


def read_json(kind: type[Decoded], text: str | bytes) -> Decoded:
    """Return a JSON text as a value of a type. Raises `Unreadable`."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(str(error)) from error
    return decode(kind, data)


def decode(kind: type[Decoded], data: object) -> Decoded:
    """Return data from JSON as a value of a type: a dataclass, or what its fields consist of. Raises `Unreadable`.

    A missing field gets its default, and an unknown field is ignored, so that files of other versions can be read. A
    number that may be None is None if it is not finite, whoever wrote the file.
    """
    try:
        wanted: Any = kind  # `cache` takes what has a hash
        value: Decoded = _decoder(wanted)(data)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        problem = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise Unreadable(problem) from error
    return value


@cache
def _decoder(kind: Any) -> Callable[[Any], Any]:
    """Return a function that decodes JSON into a type; cached, since a class has thousands of reports."""
    origin, arguments = get_origin(kind), get_args(kind)
    listed = _of_type(list, tuple)
    if is_dataclass(kind):
        return _dataclass_decoder(kind)
    if kind == float | None:
        return lambda data: data if data is not None and math.isfinite(data) else None
    if origin is UnionType:
        inner = _decoder(next(argument for argument in arguments if argument is not NoneType))
        return lambda data: None if data is None else inner(data)
    if origin is tuple and arguments[-1] is not Ellipsis:
        items = [_decoder(argument) for argument in arguments]
        return lambda data: tuple(decoder(part) for decoder, part in zip(items, listed(data), strict=True))
    if origin in (tuple, list):
        item = _decoder(arguments[0])
        return lambda data: origin(map(item, listed(data)))
    if origin in (Mapping, dict):
        value = _decoder(arguments[1])
        return lambda data: {name: value(part) for name, part in data.items()}
    if origin is Literal:
        return lambda data: arguments[arguments.index(data)]
    if kind is Any or issubclass(kind, Enum):
        return (lambda data: data) if kind is Any else kind
    return _of_type(int, float) if kind is float else _of_type(kind)


def _dataclass_decoder(kind: Any) -> Callable[[Any], Any]:
    hints = get_type_hints(kind)
    decoders = [
        (field.name, _decoder(hints[field.name]), field.default is MISSING and field.default_factory is MISSING)
        for field in fields(kind)
    ]

    def decoded(data: dict[str, Any]) -> Any:
        if not isinstance(data, dict):
            raise TypeError(f"{type(data).__name__} instead of an object")
        return kind(**{name: decoder(data[name]) for name, decoder, required in decoders if required or name in data})

    return decoded


def _of_type(*types: type) -> Callable[[Any], Any]:
    def checked(data: Any) -> Any:
        if not isinstance(data, types):
            raise TypeError(f"{type(data).__name__} instead of {types[0].__name__}")
        return data

    return checked
