"""What a worker does for NumPy: inputs, observations, and seeds."""

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.checks import ArrayGiven
from autograder.protocol import ITEM_SIZES, MAX_AXES, NUMPY, OBSERVATION_ELEMENTS, Array, Opaque, Value

from .support import PlainSupport


class ArraySupport(PlainSupport):
    """Support for a course with NumPy."""

    def start(self) -> None:
        fill_unset_arrays()

    def given(self, seed: int, sizes: Mapping[str, int], device: str, *, exact: bool, traced: bool) -> ArrayGiven:
        return ArrayGiven(seed, sizes, device, exact=exact, traced=traced)

    def reset(self, seed: int, device: str) -> None:
        super().reset(seed, device)
        np.random.seed(seed)

    def observe(self, value: Any) -> Value | None:
        if isinstance(value, np.ndarray):
            return _array(value)
        return number_of(value)


@functools.cache
def fill_unset_arrays() -> None:
    """Let `np.empty` and `np.empty_like` return NaN, or the largest integer, so that equal programs give equal numbers.

    Else they return what the memory held before: often zeros, which may be the right answer by chance.
    """
    for name in ("empty", "empty_like"):
        setattr(np, name, _filled(getattr(np, name)))


def _filled(make: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(make)
    def filled(*args: Any, **kwargs: Any) -> Any:
        made = make(*args, **kwargs)
        if made.dtype.kind in "fc":
            made.fill(np.nan)
        elif made.dtype.kind in "iu":
            made.fill(np.iinfo(made.dtype).max)
        elif made.dtype.kind == "b":
            made.fill(True)
        return made

    return filled


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
    little_endian = np.ascontiguousarray(plain).astype(plain.dtype.newbyteorder("<"))
    return Array(dtype, tuple(plain.shape), little_endian.tobytes(), NUMPY)
