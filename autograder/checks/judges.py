"""How an observation is judged, as data: the judge reads these, the worker only carries them.

A check that needs another judge may give a function `(yours, expected) -> str | None` of two plain values, which
returns a sentence about what is wrong, or None.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Same:
    """The observation equals the reference's.

    `tolerance` bounds the difference, relative to the largest expected value of a tensor, in place of what
    belongs to its dtype. With `exact_zeros`, what the reference has as zero must be zero.
    """

    tolerance: float | None = None
    exact_zeros: bool = False

    def __post_init__(self) -> None:
        _refuse_nothing(self.tolerance)


@dataclass(frozen=True)
class Like:
    """What is claimed holds, and the numbers resemble the reference's: how right they are has checks of its own.

    Shapes, dtypes and devices are the reference's, and a number stands where it has one. A list of two tensors of one
    shape is two ways to the same numbers: they differ by no more than `tolerance`, relative to the largest of the
    second, in place of what belongs to the dtypes; nothing is compared where the reference's second has no number.
    Each tensor has at least `likeness` for its correlation with the reference's, whatever its sign, so that nothing can
    be sent that was not computed: a tensor of few numbers has to correlate more, and fewer than four numbers, or
    numbers that are all alike in the reference, have to equal it. What all vectors of a tensor have in common is left
    out. With a `spread`, the numbers vary as much as the reference's, within this factor. With `exact_zeros`, a number
    is zero just where the one it is held against is. Parts named in `free` need not resemble the reference; where it
    has numbers, they have too.
    """

    tolerance: float | None = None
    exact_zeros: bool = False
    likeness: float = 0.5
    spread: float | None = None
    free: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _refuse_nothing(self.tolerance)


@dataclass(frozen=True)
class Raises:
    """`given.raises(...)` saw one of these exceptions, and its message names every number it was told to."""

    types: tuple[str, ...] = ("ValueError",)


@dataclass(frozen=True)
class Dropout:
    """The observation is a dict with `eval` and `train`, two tensors of one shape, and whatever else.

    `train` is `eval` with about `rate` of it zero, other places along every axis, and the rest scaled by
    1 / (1 - rate); all but `train` is judged by `Like`, with its zeros.
    """

    rate: float


Judge = Same | Like | Raises | Dropout | Callable[[Any, Any], str | None]


def _refuse_nothing(tolerance: float | None) -> None:
    if tolerance is not None and not tolerance > 0:
        raise ValueError(f"tolerance is {tolerance}, expected a number above 0; leave it out for that of the dtype")
