"""Parts of a worker's answer, checked as they are read: each raises TypeError or ValueError beyond its bounds."""

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


def text(value: Any, most: int = MOST_NAME) -> str:
    """Return a text of at most so many characters."""
    if not isinstance(value, str) or len(value) > most:
        raise ValueError("a text of another kind or length")
    return value


def whole(value: Any, most: int, least: int = 0) -> int:
    """Return a whole number between two others, both included."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError("a number of another kind or size")
    return value


def line(value: Any) -> int:
    """Return the number of a line or of a column."""
    return whole(value, MOST_LINE)


def number(value: Any, most: float) -> float:
    """Return a number from 0 to another one."""
    if type(value) not in (int, float) or not 0 <= value <= most:
        raise ValueError("a number of another kind or size")
    return float(value)


def parts(value: Any, most: int) -> Sequence[Any]:
    """Return a list of at most so many parts."""
    if not isinstance(value, list) or len(value) > most:
        raise ValueError("a list of another kind or length")
    return value


def named(value: Any, most: int) -> Mapping[str, Any]:
    """Return a dict of at most so many names."""
    if not isinstance(value, dict) or len(value) > most:
        raise ValueError("a dict of another kind or length")
    return value


def observation(value: Value) -> Value:
    """Return what a check returned: as deep, as long and of such kinds as a worker makes of any object.

    Raises `TooLarge` where it has too many parts.
    """
    count = _counted(value, 0)
    if count > MAX_NODES:
        raise TooLarge(f"a value of {count:,} parts, more than {MAX_NODES:,}")
    return value


def _counted(value: Value, depth: int) -> int:
    """Return how many parts a value has in all, each checked."""
    count = 1
    match value:
        case None | bool() | float() | Opaque():
            pass
        case int():
            whole(value, (1 << INT_BITS) - 1, 1 - (1 << INT_BITS))
        case str():
            text(value, OBSERVATION_TEXT)
        case Array():
            if math.prod(value.shape) > OBSERVATION_ELEMENTS:
                raise ValueError("an array of too many elements")
        case list() if depth < OBSERVATION_DEPTH:
            for each in parts(value, OBSERVATION_PARTS):
                count += _counted(each, depth + 1)
        case dict() if depth < OBSERVATION_DEPTH:
            for key, each in named(value, OBSERVATION_PARTS).items():
                text(key, OBSERVATION_KEY)
                count += _counted(each, depth + 1)
        case _:
            raise ValueError("an observation of another kind or depth")
    return count
