"""Makes a fingerprint of a wrong result: equal for programs that compute the same, so that it groups failures.

It is made of a few numbers that depend on every element, rounded more coarsely than programs differ that compute the
same in another order. A number between two roundings is rare, and only splits a group in two.
"""

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np

from autograder.comparison.arrays import Numbers, numbers
from autograder.comparison.tolerances import is_floating
from autograder.protocol import Array, Opaque, Value

PROJECTIONS = (0.618, 1.414, 2.236, 2.718)
"""The frequencies of the waves that weight the elements: each gives another sum of the same array."""

DECIMALS = {"float16": 2, "bfloat16": 1}
"""Decimals of a weighted sum, relative to the array; `MOST_DECIMALS` in dtypes with more digits."""

MOST_DECIMALS = 3
DIGITS = 16


def fingerprint(names: Sequence[str], trials: Sequence[Value]) -> str:
    """Return the fingerprint of a check's observations in hexadecimal digits; `names` say which check."""
    digest = hashlib.sha256(repr(tuple(names)).encode())
    for observation in trials:
        for line in _described(observation):
            digest.update(f"{line}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:DIGITS]


def _described(value: Value) -> Iterator[str]:
    match value:
        case Array():
            yield f"{value.dtype} {value.shape} {value.device}"
            yield _described_array(value)
        case Opaque():
            yield f"opaque {value.type_name}"
        case dict():
            yield f"dict of {len(value)}"
            for key, part in value.items():
                yield repr(key)
                yield from _described(part)
        case list() | tuple():
            yield f"list of {len(value)}"
            for part in value:
                yield from _described(part)
        case float():
            yield f"{value:.{MOST_DECIMALS}e}"
        case _:
            yield repr(value)


def _described_array(array: Array) -> str:
    flat = numbers(array).reshape(-1)
    if not is_floating(array):
        return hashlib.sha256(flat.tobytes()).hexdigest()
    odd = ~np.isfinite(flat)
    finite = np.where(odd, 0.0, flat)
    places = hashlib.sha256(np.where(odd, np.nan_to_num(flat, nan=0.5, posinf=1, neginf=-1), 0.0).tobytes())
    return f"{_weighted(finite, DECIMALS.get(array.dtype, MOST_DECIMALS))} {places.hexdigest() if odd.any() else ''}"


def _weighted(flat: Numbers, decimals: int) -> str:
    """Return the length of an array, and its sums weighted with waves, relative to the length."""
    largest = float(np.abs(flat).max(initial=0.0))
    if largest == 0.0:
        return "zero"
    length = float(np.linalg.norm(flat / largest))
    at = np.arange(1, flat.size + 1)
    sums = (float(np.dot(flat / largest, np.cos(step * at))) / length for step in PROJECTIONS)
    return " ".join(
        [f"{length * largest:.{decimals}e}", *(f"{round(sum_, decimals) + 0.0:.{decimals}f}" for sum_ in sums)]
    )
