"""Whole numbers as bytes sorted by weight, so that similar bytes lie together and compress well."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.protocol import Array

LARGEST = float(1 << 30)
"""Numbers beyond this are cut: more do not fit."""


def to_planes(numbers: NDArray[Any]) -> Array:
    """Return whole numbers, in C order, as an array of bytes (4, N), the heaviest last."""
    whole = np.clip(numbers, -LARGEST, LARGEST).astype("<i4").reshape(-1)
    folded = ((whole << 1) ^ (whole >> 31)).view("<u4")  # the sign last, so that small numbers have small bytes
    planes = np.ascontiguousarray(folded.view("u1").reshape(-1, 4).T)
    return Array("uint8", planes.shape, planes.tobytes())


def from_planes(planes: Any) -> NDArray[np.int64]:
    """Return the numbers that `to_planes` made an array of. Raises AttributeError or ValueError."""
    folded = np.ascontiguousarray(np.frombuffer(planes.data, "u1").reshape(4, -1).T).view("<u4").reshape(-1)
    whole: NDArray[np.int64] = ((folded >> 1).astype("<i4") ^ -(folded & 1).astype("<i4")).astype(np.int64)
    return whole
