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


@dataclass(frozen=True)
class Raises:
    """`given.raises(...)` saw one of these exceptions, and its message names every number it was told to."""

    types: tuple[str, ...] = ("ValueError",)


@dataclass(frozen=True)
class Dropout:
    """The observation is a dict with `eval` and `train`, two tensors of one shape, and whatever else.

    `train` is the reference's `eval` with about `rate` of it zero and the rest scaled by 1 / (1 - rate); all the
    others equal the reference's.
    """

    rate: float


Judge = Same | Raises | Dropout | Callable[[Any, Any], str | None]
