"""A report read back from its JSON, by the types of its fields."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from autograder.formats import REPORT
from autograder.results.model import Report

UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""The exceptions of reading a report that is damaged or of another version."""


class UnknownFormat(ValueError):
    """A report of another format; the message is a sentence with both formats and what to do."""


def read_report(file: Path) -> tuple[Report, Mapping[str, Any]] | None:
    """Return the report in a file and its whole JSON; None if it is none. Raises `UnknownFormat`."""
    try:
        data = json.loads(file.read_text("utf-8"))
        return from_json(data), data
    except UnknownFormat:
        raise
    except (OSError, *UNREADABLE):
        return None


def from_json(data: Mapping[str, Any]) -> Report:
    """Return the report of a JSON; raises one of `UNREADABLE` if it is not a report.

    A missing field gets its default, and an unknown field is ignored, so that reports of other versions can be read. A
    number that may be None is None if it is not finite, whoever wrote the file. Other numbers and strings are not
    checked.
    """
    if problem := REPORT.problem_of(data["schema"]):
        raise UnknownFormat(problem)
    report: Report = _decoder(Report)(data)
    return report


@cache
def _decoder(kind: Any) -> Callable[[Any], Any]:
    """Return a function that decodes JSON into a type; cached, since a class has thousands of reports."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _dataclass_decoder(kind)
    if kind is bool:
        return lambda data: data is True
    if kind == float | None:
        return lambda data: data if data is not None and math.isfinite(data) else None
    if origin is UnionType:
        inner = _decoder(next(argument for argument in arguments if argument is not NoneType))
        return lambda data: None if data is None else inner(data)
    if origin is tuple and arguments[-1] is Ellipsis:
        item = _decoder(arguments[0])
        return lambda data: tuple(map(item, data))
    if origin is tuple:
        items = [_decoder(argument) for argument in arguments]
        return lambda data: tuple(decoder(part) for decoder, part in zip(items, data, strict=True))
    if origin is Mapping:
        return dict
    return lambda data: data


def _dataclass_decoder(kind: Any) -> Callable[[Any], Any]:
    hints = get_type_hints(kind)
    decoders = [
        (field.name, _decoder(hints[field.name]), field.default is MISSING and field.default_factory is MISSING)
        for field in fields(kind)
    ]
    return lambda data: kind(
        **{name: decoder(data[name]) for name, decoder, required in decoders if required or name in data}
    )
