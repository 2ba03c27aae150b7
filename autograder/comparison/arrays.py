"""Arrays in the judge: as NumPy arrays of float64, and what of them differs by more than rounding."""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograder.comparison.tolerances import SMALLEST_SCALE, TOLERANCES
from autograder.protocol import Array
from autograder.protocol.values import ITEM_SIZES

Numbers: TypeAlias = NDArray[np.float64]

_LITTLE_ENDIAN = {dtype: np.dtype(dtype).newbyteorder("<") for dtype in ITEM_SIZES if dtype != "bfloat16"}


def numbers(array: Array) -> Numbers:
    """Return the elements as float64, in their shape."""
    if array.dtype == "bfloat16":
        halves = np.frombuffer(array.data, dtype="<u2").astype(np.uint32)
        flat = (halves << 16).view(np.float32)
    else:
        flat = np.frombuffer(array.data, dtype=_LITTLE_ENDIAN[array.dtype])
    with np.errstate(invalid="ignore"):  # bytes read at a wrong place may be signalling NaN
        return flat.astype(np.float64).reshape(array.shape)


def as_array(values: Numbers, dtype: str, device: str) -> Array:
    """Return numbers as an array of a dtype with floating-point numbers; what is too large for it is infinite."""
    with np.errstate(over="ignore"):
        if dtype == "bfloat16":
            whole = np.where(np.isfinite(values), values, 0.0).astype("<f4").view("<u4")
            halves = (whole + 0x7FFF + (whole >> 16 & 1)) >> 16  # to the nearest, of two the even one
            odd = values.astype("<f4").view("<u4") >> 16
            data = np.where(np.isfinite(values), halves, odd).astype("<u2").tobytes()
        else:
            data = values.astype(_LITTLE_ENDIAN[dtype]).tobytes()
    return Array(dtype, values.shape, data, device)


def special(values: Numbers) -> NDArray[np.int8]:
    """Return what is special about each number: 2 for NaN, 1 and -1 for an infinity, else 0."""
    with np.errstate(invalid="ignore"):
        found: NDArray[np.int8] = np.where(np.isnan(values), 2, np.isinf(values) * np.sign(values)).astype("i1")
    return found


def allowed(expected: Numbers, tolerance: float) -> float:
    """Return the largest difference that is still rounding."""
    largest = float(np.abs(expected).max(initial=0.0))
    if not math.isfinite(largest):
        largest = float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0))
    return tolerance * max(largest, SMALLEST_SCALE)


def wrong(yours: Numbers, expected: Numbers, tolerance: float, *, exact_zeros: bool = False) -> NDArray[np.bool_]:
    """Return where two arrays of one shape differ by more than rounding; infinities and NaN must coincide."""
    with np.errstate(invalid="ignore"):
        close = np.abs(yours - expected) <= allowed(expected, tolerance)
    if not exact_zeros and close.all():
        return np.asarray(~close, dtype=np.bool_)
    same = (yours == expected) | (np.isnan(yours) & np.isnan(expected))
    if exact_zeros:
        close &= (expected != 0) | (yours == 0)
    return np.asarray(~(close | same), dtype=np.bool_)


FEWEST = 4
"""The minimum of numbers for a correlation: two always lie on a line, three nearly always near one."""

CHANCE = 3.29
"""Standard errors that a correlation needs: random numbers reach it once in a thousand times."""


def resembles(yours: Numbers, expected: Numbers, likeness: float, factor: float | None = None) -> bool:
    """Return whether two arrays of one shape are alike: their correlation, whatever its sign, is at least `likeness`.

    Only numbers that are expected to be finite count. Few of them have to correlate more, so that none resembles by
    chance, and fewer than `FEWEST` have to be equal. The same holds where all that is expected is one number. With a
    `factor`, one varies at most that many times as much as the other.
    """
    there = np.isfinite(expected)
    if not np.isfinite(yours[there]).all():
        return False
    if not there.any():
        return True
    spread = float(np.ptp(expected[there])) / 2
    if int(there.sum()) < FEWEST or spread <= allowed(expected, TOLERANCES["float32"]):
        return not wrong(yours[there], expected[there], TOLERANCES["float32"]).any()
    with np.errstate(over="ignore", invalid="ignore"):
        one, other, count = (
            _apart(yours, expected) if there.all() else (yours[there], expected[there], int(there.sum()))
        )
        one, other = (array.ravel() - array.mean() for array in (one, other))
        if float(np.abs(one).max()) <= allowed(yours, TOLERANCES["float64"]):
            return False  # equal up to rounding, and rounding may resemble anything
        mine, theirs = (math.sqrt(float(array @ array)) for array in (one, other))
        if factor is not None and not theirs / factor <= mine <= theirs * factor:
            return False
        return abs(float(one @ other)) >= max(likeness, by_chance(count)) * mine * theirs


def _apart(yours: Numbers, expected: Numbers) -> tuple[Numbers, Numbers, int]:
    """Return two arrays without the mean of their vectors, and the count of numbers left to compare.

    A bias that is added to every vector is a parameter: a program that returns it has computed nothing. Whole numbers,
    as ids and masks are, have none. Where vectors are as good as alike, there are the numbers of one to compare.
    """
    axes = tuple(range(expected.ndim - 1))
    if (expected == np.rint(expected)).all() or math.prod(expected.shape[:-1]) < FEWEST:
        return yours, expected, expected.size
    own = expected - expected.mean(axis=axes, keepdims=True)
    if np.abs(own).max() <= allowed(expected, TOLERANCES["float16"]):
        return yours, expected, expected.shape[-1]
    return yours - yours.mean(axis=axes, keepdims=True), own, expected.size


def by_chance(count: int) -> float:
    """Return the correlation that so many random numbers hardly ever reach (Fisher's transformation)."""
    return math.tanh(CHANCE / math.sqrt(max(count, FEWEST) - 3))
