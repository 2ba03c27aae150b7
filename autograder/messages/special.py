"""Special numbers: NaN, infinity, one number everywhere, coarse or whole numbers."""

from dataclasses import field
from typing import Literal

from autograder.messages.elements import Position, element, position
from autograder.messages.wording import Fact, Wording

_NAN = "inf - inf, 0 × inf, 0 / 0, and the root or logarithm of a negative number are NaN."


class AllNaN(Fact):
    """Every number is NaN."""

    size: int = field(compare=False)

    id = "all-nan"

    def wording(self) -> Wording:
        says = "every number is NaN" if self.size > 1 else "NaN, expected a finite number"
        return Wording(says, (), _NAN, "where it is NaN")


def _rest(is_right: bool) -> str:
    return "the others are right" if is_right else "others are wrong as well"


class SomeNaN(Fact):
    """Some numbers are NaN, the first at a position."""

    rest_is_right: bool
    count: int = field(compare=False)
    size: int = field(compare=False)
    first: Position = field(compare=False)

    id = "some-nan"

    def wording(self) -> Wording:
        says = f"{_share(self.count, self.size)} {_are(self.count)} NaN, {_rest(self.rest_is_right)}"
        return Wording(says, (f"the first at {position(self.first)}",), _NAN, "where it is NaN")


class RowsNaN(Fact):
    """Whole rows along an axis are NaN; `each` is what such a row belongs to."""

    each: str
    rest_is_right: bool
    axis: str = field(compare=False)
    count: int = field(compare=False)
    size: int = field(compare=False)
    first: Position = field(compare=False)

    id = "nan-rows"

    def wording(self) -> Wording:
        says = f"{self.count} of {self.size} whole rows {_are(self.count)} NaN, {_rest(self.rest_is_right)}"
        asks = f"A row along {self.axis} is NaN after 0 / 0, or if all of it is -inf before a softmax."
        return Wording(says, (f"the first at {position(self.first)}",), asks, "where it is NaN")


class Infinite(Fact):
    """Some numbers, or all, are infinite."""

    is_negative: bool
    rest_is_right: bool
    count: int = field(compare=False)
    size: int = field(compare=False)
    first: Position = field(compare=False)

    @property
    def id(self) -> str:
        return "-inf" if self.is_negative else "inf"

    def wording(self) -> Wording:
        asks = "exp of a large number is infinite, and so is what is divided by 0."
        if self.is_negative:
            asks = "The logarithm of 0 is -inf: is a score blocked here that should not be?"
        if self.size == 1:
            return Wording(f"{self.id}, expected a finite number", (), asks, "where it is infinite")
        rest = ", the others are right" if self.rest_is_right and self.count < self.size else ""
        says = f"{_share(self.count, self.size)} {_are(self.count)} {self.id}{rest}"
        return Wording(says, (f"the first at {position(self.first)}",), asks, "where it is infinite")


def _share(count: int, size: int) -> str:
    return f"all {size} numbers" if count == size else f"{count} of {size} numbers"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


class NumberForInfinity(Fact):
    """Another number stands where -inf is expected: 0, a very low one, or any other."""

    kind: Literal["zero", "low", "number"]
    rest_is_right: bool
    number: float = field(compare=False)

    @property
    def id(self) -> str:
        return f"{self.kind}-for-inf"

    def wording(self) -> Wording:
        asks = {
            "zero": "What does a softmax make of a score of 0? e^0 = 1.",
            "low": "A very low number is not -inf: what do you fill the blocked scores with?",
            "number": "",
        }
        rest = ", the others are right" if self.rest_is_right else ""
        says = f"{self.number:.4g} where -inf is expected{rest}"
        return Wording(says, (), asks[self.kind], "where -inf is expected")


class NothingInfinite(Fact):
    """Nothing is -inf, though some numbers should be."""

    count: int = field(compare=False)
    size: int = field(compare=False)

    id = "not-inf"

    def wording(self) -> Wording:
        says = f"nothing is -inf, expected {self.count} of {self.size}"
        return Wording(says, witnesses="where -inf is expected")


class Unwritten(Fact):
    """The numbers look like memory that nothing was written to."""

    id = "unwritten"

    def wording(self) -> Wording:
        asks = "torch.empty does not clear its memory: do you fill every place of it?"
        return Wording("looks like memory that nothing was written to", (), asks, "odd numbers")


class AllZero(Fact):
    """Everything is 0, in a gradient or elsewhere."""

    in_gradient: bool = False

    id = "zero"

    def wording(self) -> Wording:
        asks = "Do you ever write there what you compute, or do you multiply it by 0?"
        if self.in_gradient:
            asks = "The result does not depend on it: is it detached on the way, or is its value not used?"
        return Wording("0 everywhere", (), asks)


class SameEverywhere(Fact):
    """One number stands everywhere; `expected` is the one that should, if it is one.

    Of a mask `value` is that number, the same in each trial, and `count` of `size` places are wrong.
    """

    value: bool | None
    number: float = field(compare=False)
    expected: float | None = field(compare=False)
    dtype: str = field(compare=False)
    count: int = field(default=0, compare=False)
    size: int = field(default=0, compare=False)

    id = "constant"

    def wording(self) -> Wording:
        says = f"{element(self.number, self.dtype)} everywhere"
        if self.expected is not None:
            return Wording(f"{says}, expected {element(self.expected, self.dtype)} everywhere")
        if self.value is not None:
            return Wording(f"{says}, expected {not self.value} at {self.count} of {self.size} places")
        return Wording(f"{says}, expected different numbers")


class Rounded(Fact):
    """Right up to the rounding of a coarser dtype."""

    dtype: str
    expected: str = field(compare=False)

    @property
    def id(self) -> str:
        return f"precise-as-{self.dtype}"

    def wording(self) -> Wording:
        says = f"right up to the rounding of {self.dtype}, expected that of {self.expected}"
        return Wording(says, (), "Where do you convert a tensor to a coarser dtype, or create one in it?")


class NearlyRight(Fact):
    """Near the expected numbers, but farther off than rounding; `off` is relative to the largest number."""

    off: float = field(compare=False)

    id = "near"

    def wording(self) -> Wording:
        asks = "Rounding is less than this. Is a small constant or term wrong, or a formula approximate?"
        return Wording(f"near, but not equal: off by at most {self.off:.2g} of the largest number", (), asks)


class MaskAsNumbers(Fact):
    """A mask of 0 and 1 where one of true and false is expected, right or inverted."""

    is_inverted: bool
    yours: str = field(compare=False)

    @property
    def id(self) -> str:
        return "bits-inverted" if self.is_inverted else "bits"

    def wording(self) -> Wording:
        says = f"{self.yours}, expected bool"
        if self.is_inverted:
            return Wording(says, ("its 0 and 1 are exchanged as well",))
        asks = "A comparison gives a mask of true and false."
        return Wording(says, ("its 0 and 1 are right as false and true",), asks)


class CutToWhole(Fact):
    """Integers where fractions are expected: the values are `cut`, `rounded` or `rounded down`."""

    how: str
    yours: str = field(compare=False)
    expected: str = field(compare=False)

    id = "cut"

    def wording(self) -> Wording:
        also = f"the values are {self.how} to whole numbers"
        asks = "Is // used for /, or a number put into a tensor of integers?"
        return Wording(f"{self.yours}, expected {self.expected}", (also,), asks)
