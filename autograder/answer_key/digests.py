"""Packs fingerprints for a kit: whole numbers in steps of each row's own size, their bytes sorted by weight.

So they are rounded to what the judge can tell apart, and similar bytes lie together: they compress well.
"""

from typing import Any

import numpy as np

from autograder.protocol import Array, Value
from autograder.protocol.fingerprints import COUNTS, WIDTH, Fingerprints

BITS = 15
"""A step is so many bits smaller than the row: the rounding is a third of the judge's tolerance."""

SIZE_COLUMN = 5
SMALLEST = 1e-6
LARGEST = float(1 << 30)
"""More steps do not fit."""

COUNTED = len(range(WIDTH)[COUNTS])


def to_steps(prints: Fingerprints) -> Value:
    """Return fingerprints (N, WIDTH) as a plain value. What is too large for its row's step is cut."""
    size = np.maximum(np.abs(prints[:, SIZE_COLUMN]), SMALLEST)
    exponents = np.floor(np.log2(size)).astype(np.int32) - BITS
    steps = np.rint(prints[:, COUNTED:] / np.exp2(exponents)[:, None])
    whole = np.clip(steps, -LARGEST, LARGEST).astype("<i4")
    folded = ((whole << 1) ^ (whole >> 31)).view("<u4")  # the sign last, so that small numbers have small bytes
    planes = folded.reshape(-1).view("u1").reshape(-1, 4).T
    return {
        "counts": _array("int64", prints[:, COUNTS].astype("<i8")),
        "exponents": _array("int32", exponents.astype("<i4")),
        "planes": _array("uint8", np.ascontiguousarray(planes)),
    }


def from_steps(record: Any) -> Array:
    """Return the fingerprints that `to_steps` made a value of. Raises KeyError, TypeError or ValueError."""
    counts = np.frombuffer(record["counts"].data, "<i8").reshape(-1, COUNTED)
    exponents = np.frombuffer(record["exponents"].data, "<i4")
    planes = np.frombuffer(record["planes"].data, "u1").reshape(4, -1)
    folded = np.ascontiguousarray(planes.T).view("<u4").reshape(len(counts), WIDTH - COUNTED)
    whole = (folded >> 1).astype("<i4") ^ -(folded & 1).astype("<i4")
    prints = np.concatenate([counts, whole * np.exp2(exponents)[:, None]], axis=1).astype("<f8")
    return Array("float64", prints.shape, prints.tobytes())


def _array(dtype: str, values: Any) -> Array:
    return Array(dtype, values.shape, values.tobytes())
