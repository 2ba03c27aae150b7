"""What a wrong result is told from others by: a digest that is equal for programs which compute the same.

It is made of a few numbers that depend on every element, rounded far more coarsely than programs that do the same in
another order differ. So one that falls between two roundings is rare, and only parts a group that belongs together.
"""

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np

from autograder.comparison.arrays import Numbers, is_floating, numbers
from autograder.protocol import Array, Opaque, Value

PROJECTIONS = (0.618, 1.414, 2.236, 2.718)
"""The steps of the waves that the elements are weighed with: any two of them see an array differently."""

DECIMALS = {"float16": 2, "bfloat16": 1}
"""To so many decimals a weighed sum is told, relative to the array; to `MOST_DECIMALS` where the dtype has more."""

MOST_DECIMALS = 3
SHOWN = 16


def fingerprint(names: Sequence[str], trials: Sequence[Value]) -> str:
    """Return what the observations of a check's trials are told by, in hexadecimal digits; `names` say which check."""
    digest = hashlib.sha256(repr(tuple(names)).encode())
    for each in trials:
        for line in _told(each):
            digest.update(f"{line}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:SHOWN]


def _told(value: Value) -> Iterator[str]:
    match value:
        case Array():
            yield f"{value.dtype} {value.shape} {value.device}"
            yield _told_array(value)
        case Opaque():
            yield f"opaque {value.type_name}"
        case dict():
            yield f"dict of {len(value)}"
            for key, part in value.items():
                yield repr(key)
                yield from _told(part)
        case list() | tuple():
            yield f"list of {len(value)}"
            for part in value:
                yield from _told(part)
        case float():
            yield f"{value:.{MOST_DECIMALS}e}"
        case _:
            yield repr(value)


def _told_array(array: Array) -> str:
    flat = numbers(array).reshape(-1)
    if not is_floating(array):
        return hashlib.sha256(flat.tobytes()).hexdigest()
    odd = ~np.isfinite(flat)
    finite = np.where(odd, 0.0, flat)
    places = hashlib.sha256(np.where(odd, np.nan_to_num(flat, nan=0.5, posinf=1, neginf=-1), 0.0).tobytes())
    return f"{_weighed(finite, DECIMALS.get(array.dtype, MOST_DECIMALS))} {places.hexdigest() if odd.any() else ''}"


def _weighed(flat: Numbers, decimals: int) -> str:
    """Return the length of an array, and its sums weighed with waves, relative to the length."""
    largest = float(np.abs(flat).max(initial=0.0))
    if largest == 0.0:
        return "zero"
    length = float(np.linalg.norm(flat / largest))
    at = np.arange(1, flat.size + 1)
    sums = (float(np.dot(flat / largest, np.cos(each * at))) / length for each in PROJECTIONS)
    return " ".join(
        [f"{length * largest:.{decimals}e}", *(f"{round(each, decimals) + 0.0:.{decimals}f}" for each in sums)]
    )
