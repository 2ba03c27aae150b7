"""Whether an array resembles the expected one. What is known of an expected array is computed once for a class."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from autograder.comparison.arrays import Numbers, allowed, expected_numbers, wrong
from autograder.comparison.tolerances import TOLERANCES
from autograder.protocol import Array

FEWEST = 4
"""The minimum of numbers for a correlation: two always lie on a line, three nearly always near one."""

CHANCE = 3.29
"""Standard errors that a correlation needs: random numbers reach it once in a thousand times."""

MOST_TARGETS = 1 << 14
"""The most expected arrays that are kept: a class needs those of all its checks again and again."""


@dataclass(frozen=True)
class Target:
    """Expected numbers, of which only those that are `there` count: finite ones; `chosen` are these.

    With `is_equality` they have to be equal. Else `direction` is what another array is compared with: it is without
    the mean of its vectors if `axes` are given, and without its mean, and has the length `spread`. `chance` is the
    correlation that random numbers hardly ever reach.
    """

    chosen: Numbers
    there: NDArray[np.bool_]
    is_all: bool
    is_equality: bool
    axes: tuple[int, ...] | None
    direction: Numbers
    spread: float
    chance: float


@lru_cache(maxsize=MOST_TARGETS)
def target_of(expected: Array, other_way: Array | None = None) -> Target:
    """Return what an array has to resemble; of two ways to the same numbers, those count that both have."""
    values = expected_numbers(expected)
    if other_way is None:
        return target(values)
    return target(np.where(np.isfinite(expected_numbers(other_way)), values, np.nan))


def target(expected: Numbers) -> Target:
    """Return what an array has to resemble."""
    there = np.isfinite(expected)
    is_all, chosen = bool(there.all()), expected[there]
    if chosen.size < FEWEST or float(np.ptp(chosen)) / 2 <= allowed(chosen, TOLERANCES["float32"]):
        return Target(chosen, there, is_all, True, None, chosen, 0.0, 1.0)
    axes, count = _apart(expected) if is_all else (None, chosen.size)
    with np.errstate(over="ignore", invalid="ignore"):
        direction = _centred(expected if is_all else chosen, axes)
        spread = math.sqrt(float(direction @ direction))
    return Target(chosen, there, is_all, False, axes, direction, spread, by_chance(count))


def resembles(yours: Numbers, target: Target, likeness: float, factor: float | None = None) -> bool:
    """Return whether two arrays of one shape are alike: their correlation, whatever its sign, is at least `likeness`.

    Only numbers that are expected to be finite count. Few of them have to correlate more, so that none resembles by
    chance, and fewer than `FEWEST` have to be equal. The same holds where all that is expected is one number. With a
    `factor`, one varies at most that many times as much as the other.
    """
    chosen = yours if target.is_all else yours[target.there]
    if not np.isfinite(chosen).all():
        return False
    if target.is_equality:
        return not wrong(chosen.ravel(), target.chosen, TOLERANCES["float32"]).any()
    with np.errstate(over="ignore", invalid="ignore"):
        direction = _centred(chosen, target.axes)
        if float(np.abs(direction).max()) <= allowed(yours, TOLERANCES["float64"]):
            return False  # equal up to rounding, and rounding may resemble anything
        mine, theirs = math.sqrt(float(direction @ direction)), target.spread
        if factor is not None and not theirs / factor <= mine <= theirs * factor:
            return False
        return abs(float(direction @ target.direction)) >= max(likeness, target.chance) * mine * theirs


def _apart(expected: Numbers) -> tuple[tuple[int, ...] | None, int]:
    """Return the axes of the vectors whose mean does not count, if any, and the count of numbers left to compare.

    A bias that is added to every vector is a parameter: a program that returns it has computed nothing. Whole numbers,
    as ids and masks are, have none. Where vectors are as good as alike, there are the numbers of one to compare.
    """
    axes = tuple(range(expected.ndim - 1))
    if (expected == np.rint(expected)).all() or math.prod(expected.shape[:-1]) < FEWEST:
        return None, expected.size
    if np.abs(expected - expected.mean(axis=axes, keepdims=True)).max() <= allowed(expected, TOLERANCES["float16"]):
        return None, expected.shape[-1]
    return axes, expected.size


def _centred(values: Numbers, axes: tuple[int, ...] | None) -> Numbers:
    """Return numbers without the mean of their vectors, if there are such axes, and without their mean."""
    apart = values if axes is None else values - values.mean(axis=axes, keepdims=True)
    centred: Numbers = apart.ravel() - apart.mean()
    return centred


def by_chance(count: int) -> float:
    """Return the correlation that so many random numbers hardly ever reach (Fisher's transformation)."""
    return math.tanh(CHANCE / math.sqrt(max(count, FEWEST) - 3))
