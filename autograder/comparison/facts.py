"""The first difference between an observation and the expected one."""

from dataclasses import field
from typing import Literal

from autograder.protocol import NUMPY, Array, Opaque, Value
from autograder.results import Fact, Position, Wording, element, is_named, item, joined, opened, position


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


ONLY_SOME_SIZES = "With inputs of other sizes it is right."


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
    """An exception is expected; the call returned an object of a type instead."""

    expected: str
    returned: str

    id = "raises"

    def wording(self) -> Wording:
        also = (f"the call returned {self.returned}",)
        return Wording(f"Your code raised nothing, expected {self.expected}", also, whole=True)


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


# Numbers that dropout set to 0, and the scale of the others.


class ShareDropped(Fact):
    """In train mode another share is dropped than the rate."""

    share: float
    rate: float

    id = "dropout"

    def wording(self) -> Wording:
        says = f"In train mode {self.share:.0%} of the elements are zero, expected about {self.rate:.0%}"
        return Wording(says, whole=True)


class KeptScaled(Fact):
    """In train mode what is kept has another scale; `high` equals `low` where it is the same everywhere."""

    low: float
    high: float
    rate: float

    id = "dropout"

    def wording(self) -> Wording:
        factor = f"{self.low:.3g}" if self.low == self.high else f"{self.low:.3g} to {self.high:.3g}"
        expected = f"1 / (1 - {self.rate}) = {1 / (1 - self.rate):.3g} ×"
        return Wording(f"In train mode what is kept is {factor} × its value, expected {expected}", whole=True)


class DroppedTogether(Fact):
    """In train mode all elements along an axis are dropped, or none."""

    id = "dropout"

    def wording(self) -> Wording:
        says = "In train mode the same places are dropped all along an axis, expected others each time"
        return Wording(says, whole=True)


class DropoutActive(Fact):
    """Numbers are dropped where none should be, and the others are scaled for it, or not."""

    rate: float = field(compare=False)
    factor: float = field(compare=False)
    is_scaled: bool

    @property
    def id(self) -> str:
        return "dropout" if self.is_scaled else "dropout-unscaled"

    def wording(self) -> Wording:
        if not self.is_scaled:
            says = f"{self.rate:.0%} of the numbers are dropped, and the others are not rescaled"
            return Wording(says, asks="Is something set to 0 at random here?", witnesses="dropped")
        also = f"the others are {self.factor:.3g} × the expected"
        asks = "Does dropout know whether it is training? It is a module that follows train() and eval()."
        says = f"dropout is active: {self.rate:.0%} of the numbers are dropped"
        return Wording(says, (also,), asks, witnesses="dropped")


class OddResult(Fact):
    """One of many random results is no number, or has another shape than the reference's."""

    id = "other"

    def wording(self) -> Wording:
        return Wording("not every result is a number, or an array of the expected shape")


class DrawnOtherwise(Fact):
    """The mean of many random results, or else their standard deviation, is not that of the reference's."""

    is_mean: bool
    count: int = field(compare=False)
    yours: float = field(compare=False)
    expected: float = field(compare=False)
    margin: float = field(compare=False)

    id = "distribution"

    def wording(self) -> Wording:
        if self.is_mean:
            asks = "What is the mean by hand? Which step of yours moves it up or down?"
            says = f"the mean of {self.count} results is {self.yours:.3g}, expected {self.expected:.3g}"
            return Wording(f"{says}, give or take {self.margin:.1g}", asks=asks)
        asks = "How much does one result differ from the next? Count the random numbers that go into one of them."
        if self.yours == 0:
            asks = "Is every result the same? Each one needs new random numbers."
        says = f"{self.count} results have a standard deviation of {self.yours:.3g}, expected about {self.expected:.3g}"
        return Wording(says, asks=asks)


# Another shape: which axis is missing, too much, exchanged or too long.

Shape = tuple[int, ...]
End = Literal["end", "beginning", "both ends"]


class ShapeDiffers(Fact):
    """The shape is another one; `axes` has the names and sizes of the expected one, if any has a word."""

    yours: Shape = field(compare=False)
    expected: Shape = field(compare=False)
    axes: tuple[tuple[str, int], ...] = field(default=(), compare=False, kw_only=True)

    @property
    def id(self) -> str:
        return "shape"

    def wording(self) -> Wording:
        sized = (f"{name} {size}" if is_named(name) else f"{name} of size {size}" for name, size in self.axes)
        axes = ", ".join(sized)
        return Wording(self.shapes, asks=f"Expected: {axes}." if axes else "")

    @property
    def shapes(self) -> str:
        """Both shapes."""
        return f"shape {self.yours}, expected {self.expected}"


class AxesOfOne(ShapeDiffers):
    """Axes of size 1 are missing or too many; the numbers are right, or not looked at."""

    is_more: bool
    is_right: bool
    is_one: bool = field(compare=False)

    id = "shape-ones"

    def wording(self) -> Wording:
        axes = "an axis of size 1 is" if self.is_one else "axes of size 1 are"
        values = ("the values are right",) if self.is_right else ()
        asks = "keepdim decides whether a sum or mean leaves its axis; squeeze and unsqueeze take away and add one."
        return Wording(f"{self.shapes}: {axes} {'too much' if self.is_more else 'missing'}", values, asks)


class AxesExchanged(ShapeDiffers):
    """The right numbers with two axes exchanged, or with all in another `order`."""

    axes_to: tuple[str, ...]
    is_swap: bool

    id = "shape-exchanged"

    def wording(self) -> Wording:
        if self.is_swap:
            return Wording(f"right after swapping {joined(self.axes_to)}", (self.shapes,))
        return Wording(f"right with its axes in the order {', '.join(self.axes_to)}", (self.shapes,))


class Reshaped(ShapeDiffers):
    """The right numbers in the right order, in another shape."""

    id = "shape-reshaped"

    def wording(self) -> Wording:
        asks = "Which axes have to be joined or split?"
        return Wording("the right numbers in the right order", (self.shapes,), asks)


class Unmerged(ShapeDiffers):
    """Right once two axes are swapped and then joined."""

    names: tuple[str, str]

    id = "shape-unmerged"

    def wording(self) -> Wording:
        asks = "A transpose brings two axes side by side; only then can reshape join them."
        return Wording(f"right once {joined(self.names)} are swapped and then axes are joined", (self.shapes,), asks)


class Repeated(ShapeDiffers):
    """The right numbers, once for every index of an axis more."""

    name: str

    id = "shape-repeated"

    def wording(self) -> Wording:
        return Wording(
            f"the right numbers, repeated along {self.name}", (self.shapes,), "Which line repeats or expands them?"
        )


class Reduction(ShapeDiffers):
    """A mean or sum over some axes is missing, or one too many is taken."""

    reduce: Literal["mean", "sum"]
    over: tuple[str, ...]
    is_missing: bool

    @property
    def id(self) -> str:
        return "shape-not-reduced" if self.is_missing else "shape-reduced-too-far"

    def wording(self) -> Wording:
        if self.is_missing:
            says = f"its {self.reduce} over {joined(self.over)} is right, but is not taken"
            return Wording(says, (self.shapes,))
        return Wording(f"the {self.reduce} of the expected over {joined(self.over)}: reduced too far", (self.shapes,))


class Square(ShapeDiffers):
    """A row was broadcast against a column."""

    size: int = field(compare=False)

    id = "shape-square"

    def wording(self) -> Wording:
        both = f"({self.size},) against ({self.size}, 1) broadcasts to ({self.size}, {self.size})"
        asks = "Which of the two has an axis of size 1 that the other lacks?"
        return Wording(self.shapes, (both,), asks)


class FirstAxisMissing(ShapeDiffers):
    """The first axis is missing; `matching` is the slice along it that yours equals."""

    first: str
    matching: int | None = field(compare=False)

    id = "shape-no-first-axis"

    def wording(self) -> Wording:
        if self.matching is not None:
            says = f"only {item(self.first, self.matching)} of {self.expected[0]}, which is right"
            return Wording(says, (self.shapes,))
        return Wording(f"no {f'{self.first} axis' if is_named(self.first) else self.first}", (self.shapes,))


class FirstAxisExtra(ShapeDiffers):
    """An axis too many stands at the front."""

    id = "shape-extra-axis"

    def wording(self) -> Wording:
        return Wording("an axis too many at the front", (self.shapes,))


class LengthWrong(ShapeDiffers):
    """One axis is a little too long or too short, and the numbers are right where both are."""

    axis: str
    more: int
    end: End

    id = "shape-length"

    def wording(self) -> Wording:
        place = f"at {self.end}" if self.end == "both ends" else f"at the {self.end}"
        many = f"{abs(self.more)} too {'many' if self.more > 0 else 'few'} {place} of {self.axis}"
        return Wording(f"{many}, the rest is right", (self.shapes,))


class SizesExchanged(ShapeDiffers):
    """The right sizes in another order, and not the right numbers; `swapped` are two axes, or none are known."""

    swapped: tuple[str, ...]
    is_wrong: bool = field(compare=False)

    id = "shape-order"

    def wording(self) -> Wording:
        if not self.swapped:
            return Wording("the sizes are right, in another order", (self.shapes,))
        numbers = ", and the numbers are not the expected ones" if self.is_wrong else ""
        return Wording(f"{joined(self.swapped)} are exchanged{numbers}", (self.shapes,))


class OtherAxis(ShapeDiffers):
    """One axis is gone that should be there, another is there that should be gone."""

    missing: str
    extra: str

    id = "shape-other-axis"

    def wording(self) -> Wording:
        says = f"it has the axis {self.extra} in place of {self.missing}"
        asks = f"Do you sum, average or index over {self.missing}? The expected shape keeps that axis."
        return Wording(says, (self.shapes,), asks)


class OneForAll(ShapeDiffers):
    """An axis has size 1 where more is expected."""

    axis: str
    size: int = field(compare=False)

    id = "shape-one-for-all"

    def wording(self) -> Wording:
        return Wording(f"one number for all of {self.axis}, expected {self.size}", (self.shapes,))


class AxisMissing(ShapeDiffers):
    """One axis is missing."""

    axis: str

    id = "shape-missing-axis"

    def wording(self) -> Wording:
        asks = f"Is something summed, averaged or indexed over {self.axis} that should not be?"
        return Wording(f"the axis {self.axis} is missing", (self.shapes,), asks)


class AxisExtra(ShapeDiffers):
    """One axis is too many."""

    axis: str

    id = "shape-additional-axis"

    def wording(self) -> Wording:
        return Wording(f"an axis too many, {self.axis}", (self.shapes,))


class SizeDiffers(ShapeDiffers):
    """One size is another one; `symbol` and `expected_symbol` are what the course calls the two."""

    axis: str
    symbol: str | None
    size: int = field(compare=False)
    expected_size: int = field(compare=False)
    expected_symbol: str | None = field(compare=False)

    id = "shape-one-size"

    def wording(self) -> Wording:
        yours, right = _sized(self.size, self.symbol), _sized(self.expected_size, self.expected_symbol)
        return Wording(f"{self.axis} is {yours}, expected {right}", (self.shapes,))


def _sized(size: int, symbol: str | None) -> str:
    return f"{size} ({symbol})" if symbol else str(size)
