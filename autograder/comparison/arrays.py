"""Arrays in the judge: as NumPy arrays of float64, and what of them differs by more than rounding."""

import math
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograder.comparison.tolerances import SMALLEST_SCALE
from autograder.protocol import Array
from autograder.protocol.values import ITEM_SIZES

Numbers: TypeAlias = NDArray[np.float64]

_LITTLE_ENDIAN = {dtype: np.dtype(dtype).newbyteorder("<") for dtype in ITEM_SIZES if dtype != "bfloat16"}

MOST_EXPECTED = 1 << 14
"""The most expected arrays that are kept as float64: a class needs those of all its checks again and again."""


def numbers(array: Array) -> Numbers:
    """Return the elements as float64, in their shape."""
    if array.dtype == "bfloat16":
        halves = np.frombuffer(array.data, dtype="<u2").astype(np.uint32)
        flat = (halves << 16).view(np.float32)
    else:
        flat = np.frombuffer(array.data, dtype=_LITTLE_ENDIAN[array.dtype])
    with np.errstate(invalid="ignore"):  # bytes read at a wrong place may be signalling NaN
        return flat.astype(np.float64).reshape(array.shape)


@lru_cache(maxsize=MOST_EXPECTED)
def expected_numbers(array: Array) -> Numbers:
    """Return the elements of an array that many others are compared with, as float64: read-only, and made once."""
    values = numbers(array)
    values.setflags(write=False)
    return values


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
