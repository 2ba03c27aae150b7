"""A case for the detectors: two arrays that differ, what is known about them, and when numbers are the same."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from autograder.comparison import Numbers
from autograder.results import Fact, Position, is_integral, is_named

from .named_sizes import CLOSE_TO_CONSTANT, Axes, Coefficient, simplest

Places = NDArray[np.bool_]

CLOSE = 1e-4
"""Two arrays are the same if the norm of their difference is this part of the norm: 100 times float32's rounding."""

_CLOSE_OF = {"float16": 4e-3, "bfloat16": 2e-2}

FEW = 4
"""So few numbers fit many patterns by chance: for them only a constant with a name counts."""

LARGE = 300_000
"""Elements; larger arrays are compared with the cheap patterns only, so that a check stays fast."""


@dataclass(frozen=True)
class Case:
    """What was observed and what was expected, with a name for every axis of the expected.

    `dtypes` are those of yours and of the expected; `known` has the other expected parts of the observation by name;
    `constants` are numbers of the check itself, such as a rate; `off` is where the judge found yours wrong.
    """

    yours: Numbers
    expected: Numbers
    axes: Axes = field(default_factory=Axes)
    words: tuple[str, ...] = ()
    dtypes: tuple[str, str] = ("float32", "float32")
    known: Mapping[str, Numbers] = field(default_factory=dict)
    constants: Mapping[str, float] = field(default_factory=dict)
    off: Places | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the expected's axes."""
        return self.words or self.axes.names(self.expected.shape)

    @cached_property
    def tau(self) -> float:
        """The largest relative difference that still is rounding, for the coarser of the two dtypes."""
        return max(_CLOSE_OF.get(dtype, CLOSE) for dtype in self.dtypes)

    @cached_property
    def finite(self) -> bool:
        """Whether all numbers are finite, in both."""
        return bool(np.isfinite(self.yours).all() and np.isfinite(self.expected).all())

    @cached_property
    def is_bool(self) -> bool:
        """Whether both are true or false everywhere."""
        return self.dtypes[1] == "bool" and are_bits(self.yours) and are_bits(self.expected)

    @cached_property
    def is_integral(self) -> bool:
        """Whether whole numbers are expected: ids, counts, or true and false."""
        return is_integral(self.dtypes[1])

    @cached_property
    def values(self) -> int:
        """The number of different values that are expected, counted up to 20."""
        # Numbers equal to 5 digits of the largest are one value; the first 2000 numbers are enough to find 20.
        scale = max(float(np.abs(self.expected).max(initial=0.0)), 1e-30) if self.finite else 1.0
        return min(20, len(np.unique(np.round(self.expected.reshape(-1)[:2000] / scale, 5))))

    @cached_property
    def wrong(self) -> Places:
        """Where the two differ by more than rounding.

        It is where the judge says so if that is nowhere, if whole numbers are expected, or nothing but 0.
        """
        if self.off is not None and (self.is_integral or not self.expected.any()):
            return self.off
        with np.errstate(invalid="ignore"):
            gap = np.abs(self.yours - self.expected)
            finite = np.abs(self.expected[np.isfinite(self.expected)])
            # Rounding grows with a number itself, and with the largest number that it was added up from.
            bound = self.tau * (2 * np.abs(self.expected) + 0.2 * float(finite.max(initial=0.0)))
            same = (self.yours == self.expected) | (np.isnan(self.yours) & np.isnan(self.expected))
            near = (gap <= bound) & np.isfinite(self.expected)
        found = np.asarray(~(near | same), dtype=np.bool_)
        return found if found.any() or self.off is None else self.off

    @cached_property
    def nearly_right(self) -> bool:
        """Whether the two are the same up to rounding, taken together."""
        return self.finite and close(self.yours, self.expected, self.tau)

    def same(self, one: Numbers, other: Numbers) -> bool:
        """Whether two arrays are the same up to rounding."""
        return close(one, other, self.tau)

    def at(self, axis: int) -> str:
        """Return the name of an axis of the expected."""
        return self.names[axis]

    def position(self, index: Sequence[int]) -> Position:
        """Return an index with the names of its axes; where any has a word, those of size 1 are left out."""
        pairs = tuple((self.at(axis), int(at)) for axis, at in enumerate(index))
        counted = tuple(pair for axis, pair in enumerate(pairs) if self.expected.shape[axis] > 1)
        return counted if any(is_named(name) for name, _ in counted) else pairs


def are_bits(array: Numbers) -> bool:
    """Whether an array holds nothing but 0 and 1."""
    return bool(((array == 0) | (array == 1)).all())


def close(one: Numbers, other: Numbers, tau: float) -> bool:
    """Whether two arrays of one shape are the same up to a part of their size; what is not finite has to coincide."""
    if one.shape != other.shape:
        return False
    finite = np.isfinite(other)
    if not finite.all():
        if not np.array_equal(one[~finite], other[~finite], equal_nan=True):
            return False
        one, other = one[finite], other[finite]
    if not other.size:
        return True
    with np.errstate(invalid="ignore", over="ignore"):
        # The norm alone would hide one number that is far off among many.
        gap = (one - other).ravel()
        size = float(np.linalg.norm(other.ravel()))
        far = float(np.abs(gap).max())
        return float(np.linalg.norm(gap)) <= tau * size and far <= 10 * tau * float(np.abs(other).max())


def others(count: int, axis: int) -> tuple[int, ...]:
    """Return all axes but one."""
    return tuple(at for at in range(count) if at != axis)


# A pattern: a fact about a wrong result, and the numbers that show it.

Row = tuple[str, str, str]


@dataclass(frozen=True)
class Sample:
    """The numbers that belong to a pattern.

    `places` are where single numbers are taken from, in the shape of the expected; `row` stands last in the table; a
    map is drawn only where it shows something.
    """

    places: Places | None = None
    row: Row | None = None
    has_map: bool = True


NO_MAP = Sample(has_map=False)


@dataclass(frozen=True)
class Pattern:
    """A fact that explains a wrong result, its numbers, and its coefficient if it has one."""

    fact: Fact
    sample: Sample = Sample()
    coefficient: Coefficient | None = None

    def confirmed_by(self, second: Iterable["Pattern"]) -> "Pattern | None":
        """Return the pattern with the names that both trials agree on, or None where the second does not show it."""
        for other in second:
            if not self.fact.is_like(other.fact):
                continue
            if self.coefficient is None or other.coefficient is None:
                return self
            coefficient = _agreed(self.coefficient, other.coefficient)
            if coefficient.names or not coefficient.needs_name:
                return replace(self, coefficient=replace(coefficient, names=simplest(coefficient.names)))
        return None

    def alone(self) -> "Pattern | None":
        """Return the pattern as one trial shows it: with a name only if there is no other, and no plain fraction is it.

        A fraction such as 1/4 or 3/4 is that of many sizes by chance; a root is that of one.
        """
        if self.coefficient is None:
            return self
        names = simplest(self.coefficient.names)
        is_sure = len(names) == 1 and len(names[0].symbols) <= 1 and (not names[0].sizes or names[0].family == "root")
        named = replace(self, coefficient=replace(self.coefficient, names=names if is_sure else ()))
        return None if self.coefficient.needs_name else named


def _agreed(one: Coefficient, other: Coefficient) -> Coefficient:
    """Return a coefficient with the names that another trial's has too, and whether both are the same number.

    The same number for other sizes is made of none of them.
    """
    texts = {constant.text for constant in other.names}
    steady = abs(one.value - other.value) < CLOSE_TO_CONSTANT * abs(other.value)
    names = tuple(constant for constant in one.names if constant.text in texts and not (steady and constant.sizes))
    return replace(one, names=names, steady=steady)
