"""How far numbers may be from the expected ones: a tolerance for every dtype."""

import math

from autograder.protocol import Array

TOLERANCES = {"float64": 1e-6, "float32": 3e-5, "float16": 1e-2, "bfloat16": 4e-2}
"""The largest difference from the reference that is still rounding, relative to the largest expected value.

Right programs stay below 3e-7 in float32, 1e-3 in float16 and 6e-3 in bfloat16; wrong ones differ by 1e-3 and more in
float32. In float64 there is room for a constant that was made in float32.
"""

SMALLEST_SCALE = 1e-3
"""Where everything expected is smaller, differences are taken relative to this."""


def is_floating(array: Array) -> bool:
    """Whether the array holds floating-point numbers."""
    return array.dtype in TOLERANCES


def is_close(yours: float, expected: float, tolerance: float) -> bool:
    """Whether a number is right up to rounding, as `arrays.wrong` judges an array; this takes no NumPy."""
    size = abs(expected) if math.isfinite(expected) else 0.0
    same = yours == expected or (math.isnan(yours) and math.isnan(expected))
    return same or abs(yours - expected) <= tolerance * max(size, SMALLEST_SCALE)
