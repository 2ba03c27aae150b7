"""Another shape: which axis is missing, too much, exchanged or too long."""

from dataclasses import field
from typing import Literal

from autograder.messages.elements import is_named, item, joined
from autograder.messages.wording import Fact, Wording

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
