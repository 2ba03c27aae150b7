"""Validate the as_list of a worker's answer: each function raises TypeError or ValueError for a value out of bounds."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.protocol import Array, Opaque, TooLarge, Value
from autograder.protocol.bounds import (
    INT_BITS,
    MOST_LINE,
    MOST_NAME,
    OBSERVATION_DEPTH,
    OBSERVATION_ELEMENTS,
    OBSERVATION_KEY,
    OBSERVATION_PARTS,
    OBSERVATION_TEXT,
)
from autograder.protocol.values import MAX_NODES


def as_text(value: Any, most: int = MOST_NAME) -> str:
    """Return a text of at most `most` characters."""
    if not isinstance(value, str) or len(value) > most:
        raise ValueError("a text of the wrong type or length")
    return value


def as_dotted(value: Any) -> str:
    """Return a dotted name of Python, such as `module.name`."""
    text = as_text(value)
    if not all(part.isidentifier() for part in text.split(".")):
        raise ValueError("a text of the wrong type: it is no name")
    return text


def as_integer(value: Any, most: int, least: int = 0) -> int:
    """Return an integer from `least` to `most`. A bool is none, although it is an int in Python."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError("a number of the wrong type or size")
    return value


def as_line(value: Any) -> int:
    """Return a line or column number."""
    return as_integer(value, MOST_LINE)


def as_number(value: Any, most: float) -> float:
    """Return a number from 0 to `most`; NaN is out of bounds."""
    if type(value) not in (int, float) or not 0 <= value <= most:
        raise ValueError("a number of the wrong type or size")
    return float(value)


def as_list(value: Any, most: int) -> Sequence[Any]:
    """Return a list of at most `most` items."""
    if not isinstance(value, list) or len(value) > most:
        raise ValueError("a list of the wrong type or length")
    return value


def as_dict(value: Any, most: int) -> Mapping[str, Any]:
    """Return a dict of at most `most` names."""
    if not isinstance(value, dict) or len(value) > most:
        raise ValueError("a dict of the wrong type or length")
    return value


def as_observation(value: Value) -> Value:
    """Return the observation of a check, if it has the depth, lengths and types that a worker can send.

    Raises `TooLarge` if it has too many parts.
    """
    count = _count_parts(value, 0)
    if count > MAX_NODES:
        raise TooLarge(f"a value of {count:,} parts, more than {MAX_NODES:,}")
    return value


def _count_parts(value: Value, depth: int) -> int:
    """Return the number of parts in a value, and validate each."""
    count = 1
    match value:
        case None | bool() | float() | Opaque():
            pass
        case int():
            as_integer(value, (1 << INT_BITS) - 1, 1 - (1 << INT_BITS))
        case str():
            as_text(value, OBSERVATION_TEXT)
        case bytes():
            if len(value) > OBSERVATION_TEXT:
                raise ValueError("bytes beyond the limit")
        case Array():
            if math.prod(value.shape) > OBSERVATION_ELEMENTS:
                raise ValueError("an array of too many elements")
        case list() if depth < OBSERVATION_DEPTH:
            for part in as_list(value, OBSERVATION_PARTS):
                count += _count_parts(part, depth + 1)
        case dict() if depth < OBSERVATION_DEPTH:
            for key, part in as_dict(value, OBSERVATION_PARTS).items():
                as_text(key, OBSERVATION_KEY)
                count += _count_parts(part, depth + 1)
        case _:
            raise ValueError("an observation of the wrong type or depth")
    return count
