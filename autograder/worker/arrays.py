"""What a worker does for NumPy: inputs, observations, and seeds."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.checks.array_given import ArrayGiven
from autograder.protocol import Array, Opaque, Value
from autograder.protocol.bounds import OBSERVATION_ELEMENTS
from autograder.protocol.values import ITEM_SIZES, MAX_AXES
from autograder.worker.support import PlainSupport


class ArraySupport(PlainSupport):
    """Support for a course with NumPy."""

    def given(self, seed: int, sizes: Mapping[str, int], device: str, *, exact: bool, traced: bool) -> ArrayGiven:
        return ArrayGiven(seed, sizes, device, exact=exact, traced=traced)

    def reset(self, seed: int) -> None:
        super().reset(seed)
        np.random.seed(seed)

    def observe(self, value: Any) -> Value | None:
        if isinstance(value, np.ndarray):
            return _array(value)
        return number_of(value)


def number_of(value: Any) -> bool | int | float | None:
    """Return a number of NumPy as one of Python; None for every other value."""
    if isinstance(value, np.number | np.bool_) and type(number := value.item()) in (bool, int, float):
        return number  # type: ignore[no-any-return]
    return None


def _array(value: Any) -> Value:
    plain = np.asarray(value).view(np.ndarray)  # a subclass could answer for itself in everything below
    dtype = str(plain.dtype)
    if plain.ndim > MAX_AXES:
        return Opaque(f"an array of {plain.ndim} axes")
    if dtype not in ITEM_SIZES or dtype == "bfloat16":
        return Opaque(f"an array of dtype {dtype}")
    if math.prod(plain.shape) > OBSERVATION_ELEMENTS:
        return Opaque(f"an array of shape {plain.shape}")
    return Array(dtype, tuple(plain.shape), np.ascontiguousarray(plain).astype(plain.dtype.newbyteorder("<")).tobytes())
