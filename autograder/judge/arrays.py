"""Arrays as the judge computes with them: NumPy, and a tolerance for every dtype."""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograder.protocol import Array
from autograder.protocol.values import ITEM_SIZES

Numbers: TypeAlias = NDArray[np.float64]

TOLERANCES = {"float64": 1e-6, "float32": 3e-5, "float16": 1e-2, "bfloat16": 4e-2}
"""The largest difference from the reference that is still rounding, relative to the largest expected value.

Right programs stay below 3e-7 in float32, 1e-3 in float16 and 6e-3 in bfloat16; wrong ones differ by 1e-3 and more in
float32. In float64 there is room for a constant that was made in float32.
"""

_LITTLE_ENDIAN = {each: np.dtype(each).newbyteorder("<") for each in ITEM_SIZES if each != "bfloat16"}

SMALLEST_SCALE = 1e-3
"""Where everything expected is smaller, differences are taken relative to this."""


def is_floating(array: Array) -> bool:
    """Whether the array holds floating-point numbers."""
    return array.dtype in TOLERANCES


def numbers(array: Array) -> Numbers:
    """Return the elements as float64, in their shape."""
    if array.dtype == "bfloat16":
        halves = np.frombuffer(array.data, dtype="<u2").astype(np.uint32)
        flat = (halves << 16).view(np.float32)
    else:
        flat = np.frombuffer(array.data, dtype=_LITTLE_ENDIAN[array.dtype])
    return flat.astype(np.float64).reshape(array.shape)


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


def resembles(yours: Numbers, expected: Numbers, likeness: float) -> bool:
    """Whether two arrays of one shape are alike: their correlation, whatever its sign, is at least `likeness`.

    Only finite numbers count. What is expected to be all alike has to be that; of a single number nothing is asked.
    """
    there = np.isfinite(expected)
    one, other = yours[there], expected[there]
    if other.size < 2:
        return True
    if not np.isfinite(one).all():
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        one, other = one - one.mean(), other - other.mean()
        sizes = math.sqrt(float(one @ one) * float(other @ other))
        if float(np.abs(other).max()) <= allowed(expected, TOLERANCES["float32"]):
            return not wrong(yours, expected, TOLERANCES["float32"]).any()
        return sizes > 0 and abs(float(one @ other)) >= likeness * sizes
