"""Fingerprints of arrays: 15 numbers that show whether two arrays hold the same values, in the same or another order.

The worker sends them in place of the hundreds of tensors a traced program makes; the judge compares them.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .frames import BEYOND

Fingerprints: TypeAlias = NDArray[np.float64]
"""Fingerprints, one per row."""

COUNTS, LOOSE, ORDERED = slice(0, 4), slice(4, 12), slice(12, 15)
"""The columns. Counts: elements, NaN, and numbers above and below `BEYOND`. Loose: numbers that do not depend on the
order of the finite elements. Ordered: numbers that do."""

WIDTH = 15
MOST_PARTS = 24
MOST_PRINTS = 1 + 3 * MOST_PARTS
"""Fingerprints of one array: its own, and those of the slices along axis 0, along axis 1, and along both."""
_FREQUENCIES = (1.0, 0.3713, 2.2361)  # no simple ratio between any two, so no two arrays agree in all three by chance
_QUANTILES = np.linspace(0, 1, 6)


def fingerprint(values: NDArray[Any]) -> Fingerprints:
    """Return the fingerprint of an array of numbers or booleans, read in C order."""
    only: Fingerprints = _of_rows(values.reshape(1, -1))[0]
    return only


def _of_rows(rows: NDArray[Any]) -> Fingerprints:
    """Return the fingerprint of each row."""
    rows = rows.astype(np.float64)
    count, size = rows.shape
    prints = np.zeros((count, WIDTH))
    prints[:, 0] = size
    if not rows.size:
        return prints
    ordered = np.sort(rows, axis=1)  # NaN comes last
    if not (ordered[:, 0].min() > -BEYOND and ordered[:, -1].max() < BEYOND):
        prints[:, 1:4] = np.stack([np.isnan(rows), rows >= BEYOND, rows <= -BEYOND]).sum(axis=2).T
        rows = np.where(np.abs(rows) < BEYOND, rows, 0.0)
        ordered = np.sort(rows, axis=1)
    prints[:, 4] = rows.sum(axis=1) / size
    prints[:, 5] = np.sqrt((rows * rows).sum(axis=1) / size)
    prints[:, 6:12] = ordered[:, _quantile_indices(size)]
    prints[:, ORDERED] = rows @ _waves(size.bit_length())[:, :size].T / math.sqrt(size)
    return prints


@lru_cache(maxsize=1 << 12)
def _quantile_indices(size: int) -> NDArray[np.intp]:
    """Return the indices of the quantiles among `size` sorted numbers."""
    return np.rint(_QUANTILES * (size - 1)).astype(np.intp)


@cache
def _waves(bits: int) -> Fingerprints:
    """Return three cosine waves of different frequencies, for arrays of fewer than 2**bits elements."""
    waves: Fingerprints = np.cos(np.outer(_FREQUENCIES, np.arange(1, 1 << bits)))
    return waves


def part_fingerprints(values: NDArray[Any]) -> Iterator[Fingerprints]:
    """Yield the fingerprint of each slice that a loop over the first two axes would make, of three or more axes.

    Of four or more axes, also those of a loop over both.
    """
    if values.ndim >= 3:
        loops = [values, np.moveaxis(values, 1, 0)]
        loops += [values.reshape(-1, *values.shape[2:])] if values.ndim >= 4 else []
        for slices in loops:
            first = slices[:MOST_PARTS]
            yield from _of_rows(first.reshape(len(first), math.prod(first.shape[1:])))


def part_shapes(shape: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the shapes of the slices that `part_fingerprints` yields for an array of that shape, in the same order."""
    if len(shape) < 3:
        return []
    first, second, *rest = shape
    shapes = [(second, *rest)] * min(first, MOST_PARTS) + [(first, *rest)] * min(second, MOST_PARTS)
    return shapes + [tuple(rest)] * (min(first * second, MOST_PARTS) if len(shape) > 3 else 0)


def same_values(one: Fingerprints, others: Fingerprints, tolerance: float) -> NDArray[np.bool_]:
    """Return which of the other arrays hold the same values, in any order."""
    same = np.asarray((others[:, COUNTS] == one[COUNTS]).all(axis=1))
    if same.any():
        candidates = others[same]
        same[same] = _close(one[LOOSE], candidates[:, LOOSE], _scale(one, candidates), tolerance)
    return same


def same_order(one: Fingerprints, others: Fingerprints, tolerance: float) -> NDArray[np.bool_]:
    """Return which of the other arrays, known to hold the same values, hold them in the same order."""
    return _close(one[ORDERED], others[:, ORDERED], _scale(one, others), tolerance)


def factors(one: Fingerprints, others: Fingerprints, tolerance: float) -> Fingerprints:
    """Return the factor between `one` and each of the other arrays; NaN where no factor relates them."""
    base, own = others[:, ORDERED], one[ORDERED]
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = (base @ own) / (base * base).sum(axis=1)
        right = _close(own, factor[:, None] * base, np.full(len(others), one[5]), tolerance)
        right &= np.abs(np.abs(factor) * others[:, 5] - one[5]) <= tolerance * one[5]
    right &= (others[:, COUNTS] == one[COUNTS]).all(axis=1)
    result: Fingerprints = np.where(right, factor, np.nan)
    return result


def _scale(one: Fingerprints, others: Fingerprints) -> Fingerprints:
    """Return the root mean squares that differences are relative to; 1e-6 keeps arrays of zeros comparable."""
    larger: Fingerprints = np.maximum(np.maximum(others[:, 5], one[5]), 1e-6)
    return larger


def _close(one: Fingerprints, others: Fingerprints, scale: Fingerprints, tolerance: float) -> NDArray[np.bool_]:
    return np.asarray((np.abs(others - one) <= tolerance * scale[:, None]).all(axis=1))


# Properties of torch's operations that follow from their names, for the worker's traces and the judge.

_IN_PLACE = frozenset({"__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__"})


def is_in_place(name: str) -> bool:
    """Say whether an operation changes a tensor in place: torch ends the names of these with one underscore."""
    return name in _IN_PLACE or (name.endswith("_") and not name.endswith("__"))


KINDS = (
    frozenset(["mul", "div", "true_divide", "truediv", "rmul", "rdiv", "rtruediv", "mul_", "div_", "imul", "itruediv"]),
    frozenset(["add", "sub", "radd", "rsub", "iadd", "isub"]),
)
"""Groups of operations that learners write in place of one another."""
