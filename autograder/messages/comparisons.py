"""The first difference between an observation and the expected one."""

from dataclasses import field

from autograder.messages.elements import Position, element, joined, position
from autograder.messages.wording import Fact, Wording, opened
from autograder.protocol import Array, Opaque, Value
from autograder.protocol.values import NUMPY


def described(value: Value) -> str:
    """Name a value in a few words."""
    match value:
        case Array():
            return array(value)
        case Opaque():
            return f"a {value.type_name}" if " " not in value.type_name else value.type_name
        case list():
            return f"a list of {len(value)}"
        case dict():
            return f"a dict of {', '.join(map(str, value))}"
        case str() | bytes():
            return repr(value[:60])
    return str(value)


ONLY_SOME_SIZES = "With inputs of other sizes it is right: does a size stand in the code as a number?"


def array(expected: Array) -> str:
    """Name a tensor, or an array of NumPy, by its shape."""
    return f"{'an array' if expected.device == NUMPY else 'a tensor'} of shape {tuple(expected.shape)}"


# Values.


class ValuesDiffer(Fact):
    """Some numbers are wrong; `first` is the first of them, with its numbers where they are no secret."""

    count: int
    size: int
    dtype: str = "float32"
    first: Position | None = None
    numbers: tuple[float, float] | None = None

    id = "value"

    def wording(self) -> Wording:
        things = "places" if self.dtype == "bool" else "numbers"
        says = f"{self.count} of {self.size} {things} {'differs' if self.count == 1 else 'differ'}"
        if self.first is None:
            return Wording(says)
        says = f"every {things[:-1]} differs" if self.count == self.size else says
        first = f"first at {position(self.first)}"
        if self.numbers is not None:
            expected, yours = (element(number, self.dtype) for number in self.numbers)
            first += f": expected {expected}, yours {yours}"
        return Wording(says, (first,))


class InputChanged(Fact):
    """An argument of the call has other values after it."""

    id = "input-changed"

    def wording(self) -> Wording:
        asks = "Which line writes into it? `+=`, `x[...] =` and methods with a trailing underscore do."
        return Wording("your code changes it, and it belongs to the caller", asks=asks)


class NumberDiffers(Fact):
    """A single number is wrong."""

    yours: float
    expected: float
    dtype: str = "number"

    id = "value"

    def wording(self) -> Wording:
        return Wording(f"{element(self.yours, self.dtype)}, expected {element(self.expected, self.dtype)}")


class NotFinite(Fact):
    """Some numbers are NaN, infinite, or either, where finite ones are expected."""

    count: int
    size: int
    nan: bool
    infinite: bool
    first: Position | None = None

    id = "special"

    def wording(self) -> Wording:
        what = " or ".join(word for word, there in (("NaN", self.nan), ("infinite", self.infinite)) if there)
        verb = "is" if self.count == 1 else "are"
        says = f"{self.count} of {self.size} numbers {verb} {what}, expected finite ones"
        return Wording(says, (f"the first at {position(self.first)}",) if self.first is not None else ())


class PlainDiffers(Fact):
    """A plain value is another one, or of another type; `right` says that its numbers are the expected ones."""

    yours: Value
    expected: Value
    right: bool

    @property
    def id(self) -> str:
        return "value" if type(self.yours) is type(self.expected) else "type"

    def wording(self) -> Wording:
        right = ("its value is right",) if self.right else ()
        return Wording(f"{described(self.yours)}, expected {described(self.expected)}", right)


# Parts.


class PartUnexpected(Fact):
    """A dict has a key too many."""

    part: str

    id = "type"

    def wording(self) -> Wording:
        return Wording(f"has the part {self.part!r}, which is not expected")


class LengthDiffers(Fact):
    """A list has another length; `lists` shows both if they are short."""

    yours: int
    expected: int
    lists: tuple[str, str] | None = field(default=None, compare=False)

    id = "type"

    def wording(self) -> Wording:
        if self.lists is not None:
            return Wording(f"{self.lists[0]}, expected {self.lists[1]}")
        return Wording(f"{self.yours} {'part' if self.yours == 1 else 'parts'}, expected {self.expected}")


# What stands in place of a tensor.


class NotATensor(Fact):
    """Something else stands where a tensor is expected; `right` says that its numbers are the expected ones."""

    yours: Value
    expected: Array
    right: bool

    id = "type"

    def wording(self) -> Wording:
        right = " with the right values" if self.right else ""
        return Wording(f"{described(self.yours)}{right}, expected {array(self.expected)}")


class TensorInside(Fact):
    """The expected tensor is one of several values that were returned."""

    key: int | str
    count: int

    id = "type"

    def wording(self) -> Wording:
        return Wording(f"item {self.key} of the {self.count} you return is right", ("return it alone",))


class NoneReturned(Fact):
    """The code returned None where a tensor is expected."""

    expected: Array

    id = "none"

    def wording(self) -> Wording:
        says = f"Your code returned None, expected {array(self.expected)}"
        return Wording(says, asks="Is the return missing?", whole=True)


class GradientMissing(Fact):
    """No gradient reaches what it should."""

    id = "type"

    def wording(self) -> Wording:
        return Wording("no gradient arrives", asks="Is there a detach(), .data, .item() or torch.no_grad() on the way?")


class DtypeDiffers(Fact):
    """The dtype is another one; `right` says that the numbers are the expected ones all the same."""

    yours: str
    expected: str
    right: bool

    id = "dtype"

    def wording(self) -> Wording:
        values = "its values are right" if self.right else "its values differ too"
        return Wording(f"{self.yours}, expected {self.expected}", (values,))


class DeviceDiffers(Fact):
    """The tensor is on another device than the input."""

    yours: str

    id = "device"

    def wording(self) -> Wording:
        return Wording(f"on the device {self.yours}, expected the device of the input")


# Exceptions that a check asks for.


class NothingRaised(Fact):
    """An exception is expected; `outcome` says what the call did instead."""

    expected: str
    outcome: str

    id = "raises"

    def wording(self) -> Wording:
        return Wording(f"Your code raised nothing, expected {self.expected}", (f"the call {self.outcome}",), whole=True)


class OtherRaised(Fact):
    """Another exception than the expected one was raised."""

    expected: str
    raised: str
    text: str

    id = "raises"

    def wording(self) -> Wording:
        says = f"Your code raised {self.raised}, expected {self.expected}"
        return Wording(says, (f"its message: {self.text[:_MOST_QUOTED]}",) if self.text else (), whole=True)


_MOST_QUOTED = 80
"""Characters of a learner's own exception message: enough to recognise it."""


class MessageLacks(Fact):
    """The message of the exception does not name what it should."""

    raised: str
    missing: tuple[str, ...]

    id = "raises"

    def wording(self) -> Wording:
        return Wording(f"The message of the {self.raised} does not mention {joined(self.missing)}", whole=True)


class NoExceptionObserved(Fact):
    """The observation is no report of an exception."""

    yours: Value
    expected: str

    id = "type"

    def wording(self) -> Wording:
        return Wording(f"The call gave {described(self.yours)}, expected {self.expected}", whole=True)


# What a judge of the course's own says.


class CustomJudgement(Fact):
    """A judge of the course's own found a mistake, in its author's words."""

    text: str

    id = "other"

    def wording(self) -> Wording:
        return Wording(opened(self.text), whole=True)


class Incomparable(Fact):
    """A judge of the course's own cannot read the observation."""

    yours: Value
    expected: Value

    id = "other"

    def wording(self) -> Wording:
        says = f"The result is {described(self.yours)}, which cannot be compared with {described(self.expected)}"
        return Wording(says, whole=True)
