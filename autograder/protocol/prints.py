"""Fingerprints of arrays: a few numbers that tell whether two arrays hold the same values, or the same in other places.

The worker sends them in place of the hundreds of tensors a traced program makes; the judge compares them.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Prints: TypeAlias = NDArray[np.float64]
"""Fingerprints, one a row."""

COUNTS, LOOSE, ORDERED = slice(0, 4), slice(4, 12), slice(12, 15)
"""The columns: how many elements, and how many are NaN, above or below what scores reach; what does not depend on the
order of the others; and what does."""

WIDTH = 15
BEYOND = 1e4
"""A larger number stands for infinity: a mask may be filled with either."""

MOST_PARTS = 24
MOST_PRINTS = 1 + 3 * MOST_PARTS
"""Fingerprints of one array: its own, and those of the slices of its first two axes and of both."""
_STEPS = (1.0, 0.3713, 2.2361)
_SHARES = np.linspace(0, 1, 6)


def fingerprint(values: NDArray[Any]) -> Prints:
    """Return the fingerprint of an array of numbers or truth values, read in its C order."""
    flat = np.ascontiguousarray(values).reshape(-1).astype(np.float64)
    size = flat.size
    found = np.zeros(WIDTH)
    found[0] = size
    if not size:
        return found
    ordered = np.sort(flat)  # NaN comes last
    if not (ordered[0] > -BEYOND and ordered[-1] < BEYOND):
        found[1:4] = np.isnan(flat).sum(), (flat >= BEYOND).sum(), (flat <= -BEYOND).sum()
        flat = np.where(np.abs(flat) < BEYOND, flat, 0.0)
        ordered = np.sort(flat)
    found[4] = np.add.reduce(flat) / size
    found[5] = math.sqrt(float(flat @ flat) / size)
    found[6:12] = ordered[_places(size)]
    found[ORDERED] = _waves(size.bit_length())[:, :size] @ flat / math.sqrt(size)
    return found


@lru_cache(maxsize=1 << 12)
def _places(size: int) -> NDArray[np.intp]:
    """Return where, among so many ordered numbers, those stand that a fingerprint has."""
    return np.rint(_SHARES * (size - 1)).astype(np.intp)


@cache
def _waves(bits: int) -> Prints:
    """Return three waves of different lengths, for arrays of fewer than 2**bits elements."""
    found: Prints = np.cos(np.outer(_STEPS, np.arange(1, 1 << bits)))
    return found


def parts(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield the slices of an array of three axes and more that a loop would make: along each of its first two axes.

    Of four axes and more, also those along both.
    """
    if values.ndim >= 3:
        yield from values[:MOST_PARTS]
        yield from np.moveaxis(values, 1, 0)[:MOST_PARTS]
    if values.ndim >= 4:
        yield from values.reshape(-1, *values.shape[2:])[:MOST_PARTS]


def part_shapes(shape: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the shapes of the parts of an array of that shape, in their order."""
    if len(shape) < 3:
        return []
    first, second, *rest = shape
    found = [(second, *rest)] * min(first, MOST_PARTS) + [(first, *rest)] * min(second, MOST_PARTS)
    return found + [tuple(rest)] * (min(first * second, MOST_PARTS) if len(shape) > 3 else 0)


def same_values(one: Prints, others: Prints, tolerance: float) -> NDArray[np.bool_]:
    """Return which of the other arrays hold the values of one, in whatever places."""
    found = np.asarray((others[:, COUNTS] == one[COUNTS]).all(axis=1))
    if found.any():
        alike = others[found]
        found[found] = _close(one[LOOSE], alike[:, LOOSE], _scale(one, alike), tolerance)
    return found


def same_order(one: Prints, others: Prints, tolerance: float) -> NDArray[np.bool_]:
    """Return which of the other arrays hold their values in the places where one holds them."""
    return _close(one[ORDERED], others[:, ORDERED], _scale(one, others), tolerance)


def factors(one: Prints, others: Prints, tolerance: float) -> Prints:
    """Return by which factor one is each of the other arrays; NaN where it is none."""
    base, own = others[:, ORDERED], one[ORDERED]
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = (base @ own) / (base * base).sum(axis=1)
        right = _close(own, factor[:, None] * base, np.full(len(others), one[5]), tolerance)
        right &= np.abs(np.abs(factor) * others[:, 5] - one[5]) <= tolerance * one[5]
    right &= (others[:, COUNTS] == one[COUNTS]).all(axis=1)
    found: Prints = np.where(right, factor, np.nan)
    return found


def _scale(one: Prints, others: Prints) -> Prints:
    larger: Prints = np.maximum(np.maximum(others[:, 5], one[5]), 1e-6)
    return larger


def _close(one: Prints, others: Prints, scale: Prints, tolerance: float) -> NDArray[np.bool_]:
    return np.asarray((np.abs(others - one) <= tolerance * scale[:, None]).all(axis=1))
