"""One element of a tensor in words: its position along named axes, and its value."""

import math
from collections.abc import Sequence

DIGITS = 4

Position = tuple[tuple[str, int], ...]
"""The name of an axis and an index along it, for each axis that counts something."""


def unnamed(axis: int) -> str:
    """Return the name of an axis that has no word."""
    return f"axis {axis}"


def is_named(name: str) -> bool:
    """Whether an axis has a word."""
    return not name.startswith("axis ")


def item(name: str, index: int) -> str:
    """Return one index along an axis: `head 2`, or `index 2 of axis 1`."""
    return f"{name} {index}" if is_named(name) else f"index {index} of {name}"


def one_of(name: str) -> str:
    """Return what an axis counts, in the singular: `head`, or `index of axis 1`."""
    return name if is_named(name) else f"index of {name}"


def position(pairs: Position) -> str:
    """Return a position in words: `query 0, feature 1`, or `[0, 1]` where no axis has a word."""
    if not any(is_named(name) for name, _ in pairs):
        return str([index for _, index in pairs])
    return ", ".join(item(name, index) for name, index in pairs)


def element(value: float, dtype: str) -> str:
    """Return one element of a tensor as text."""
    if math.isnan(value):
        return "NaN"
    if dtype == "bool" and value in (0, 1):
        return str(bool(value))
    if is_whole(dtype) and float(value).is_integer():
        return str(int(value))
    return f"{value:.{DIGITS}g}"


def is_whole(dtype: str) -> bool:
    """Whether a dtype holds ids, counts, or true and false."""
    return dtype == "bool" or "int" in dtype


def joined(words: Sequence[str], last: str = "and") -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def span(low: float, high: float) -> str:
    """Return `0.5 to 1.2`."""
    return f"{low:.3g} to {high:.3g}"
