"""Detects how another shape came about, and whether the numbers are right."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, permutations, product
from typing import Any, Literal

import numpy as np

from autograder.comparison import Numbers, other_shape
from autograder.results import Fact, is_named, item, joined

from .case import NO_MAP, Case, Pattern, close

# Another shape: which axis is missing, too much, exchanged or too long. `shapes` are yours and the expected, in words.

Shape = tuple[int, ...]
End = Literal["end", "beginning", "both ends"]


def axes_of_one(shapes: str, is_more: bool, is_right: bool, is_one: bool) -> Fact:
    """Axes of size 1 are missing or too many; the numbers are right, or not looked at."""
    axes = "an axis of size 1 is" if is_one else "axes of size 1 are"
    says = f"{shapes}: {axes} {'too much' if is_more else 'missing'}"
    values = ("the values are right",) if is_right else ()
    asks = "Such an axis comes from unsqueeze, from keepdim, or from a 1 in a shape."
    return Fact("shape-ones", says, values, asks, data=(is_more, is_right))


def exchanged_axes(shapes: str, axes: tuple[str, ...], is_swap: bool) -> Fact:
    """The right numbers with two axes exchanged, or with all in another order."""
    says = f"right with its axes in the order {', '.join(axes)}"
    if is_swap:
        says = f"right after swapping {joined(axes)}"
    return Fact("shape-exchanged", says, (shapes,), data=(axes, is_swap))


def reshaped_numbers(shapes: str) -> Fact:
    """The right numbers in the right order, in another shape."""
    says, asks = "the right numbers in the right order", "Which axes have to be joined or split?"
    return Fact("shape-reshaped", says, (shapes,), asks, data=())


def unmerged_axes(shapes: str, names: tuple[str, str]) -> Fact:
    """Right once two axes are swapped and then joined."""
    says = f"right once {joined(names)} are swapped and then axes are joined"
    asks = "A transpose brings two axes side by side; only then can reshape join them."
    return Fact("shape-unmerged", says, (shapes,), asks, data=names)


def repeated_numbers(shapes: str, name: str) -> Fact:
    """The right numbers, once for every index of an axis more."""
    says, asks = f"the right numbers, repeated along {name}", "Which line repeats or expands them?"
    return Fact("shape-repeated", says, (shapes,), asks, data=name)


def reduction(shapes: str, reduce: Literal["mean", "sum"], over: tuple[str, ...], is_missing: bool) -> Fact:
    """A mean or sum over some axes is missing, or one too many is taken."""
    id_, says = "shape-reduced-too-far", f"the {reduce} of the expected value over {joined(over)}: reduced too far"
    if is_missing:
        id_, says = "shape-not-reduced", f"its {reduce} over {joined(over)} is right, but is not taken"
    return Fact(id_, says, (shapes,), data=(reduce, over))


def square(shapes: str, size: int) -> Fact:
    """A row was broadcast against a column."""
    both = f"({size},) against ({size}, 1) broadcasts to ({size}, {size})"
    asks = "Which of the two has an axis of size 1 that the other lacks?"
    return Fact("shape-square", shapes, (both,), asks, data=())


def missing_first_axis(shapes: str, first: str, size: int, matching: int | None) -> Fact:
    """The first axis, of a size, is missing; `matching` is the slice along it that yours equals."""
    says = f"no {f'{first} axis' if is_named(first) else first}"
    if matching is not None:
        says = f"only {item(first, matching)} of {size}, which is right"
    return Fact("shape-no-first-axis", says, (shapes,), data=first)


def extra_first_axis(shapes: str) -> Fact:
    """An axis too many stands at the front."""
    return Fact("shape-extra-axis", "an axis too many at the front", (shapes,), data=())


def wrong_length(shapes: str, axis: str, more: int, end: End) -> Fact:
    """One axis is a little too long or too short, and the numbers are right where both are."""
    place = f"at {end}" if end == "both ends" else f"at the {end}"
    whole = f"the {axis} axis" if is_named(axis) else axis
    many = f"{abs(more)} too {'many' if more > 0 else 'few'} {place} of {whole}"
    return Fact("shape-length", f"{many}, the rest is right", (shapes,), data=(axis, more, end))


def exchanged_sizes(shapes: str, swapped: tuple[str, ...], is_wrong: bool) -> Fact:
    """The right sizes in another order, and not the right numbers; `swapped` are two axes, or none are known."""
    says = "the sizes are right, in another order"
    if swapped:
        numbers = ", and the numbers are not the expected ones" if is_wrong else ""
        says = f"{joined(swapped)} are exchanged{numbers}"
    return Fact("shape-order", says, (shapes,), data=swapped)


def other_axis(shapes: str, missing: str, extra: str) -> Fact:
    """One axis is gone that should be there, another is there that should be gone."""
    says = f"it has the axis {extra} in place of {missing}"
    asks = f"Do you sum, average or index over {missing}? The expected shape keeps that axis."
    return Fact("shape-other-axis", says, (shapes,), asks, data=(missing, extra))


def one_for_all(shapes: str, axis: str, size: int) -> Fact:
    """An axis has size 1 where more is expected."""
    return Fact("shape-one-for-all", f"one number for all of {axis}, expected {size}", (shapes,), data=axis)


def missing_axis(shapes: str, axis: str) -> Fact:
    """One axis is missing."""
    asks = f"Is something summed, averaged or indexed over {axis} that should not be?"
    return Fact("shape-missing-axis", f"the axis {axis} is missing", (shapes,), asks, data=axis)


def extra_axis(shapes: str, axis: str) -> Fact:
    """One axis is too many."""
    return Fact("shape-additional-axis", f"an axis too many, {axis}", (shapes,), data=axis)


def other_size(
    shapes: str, axis: str, symbol: str | None, size: int, expected_size: int, expected_symbol: str | None
) -> Fact:
    """One size is another one; `symbol` and `expected_symbol` are what the course calls the two."""
    says = f"{axis} is {_sized(size, symbol)}, expected {_sized(expected_size, expected_symbol)}"
    return Fact("shape-one-size", says, (shapes,), data=(axis, symbol))


def _sized(size: int, symbol: str | None) -> str:
    return f"{size} ({symbol})" if symbol else str(size)


# How another shape came about.

_MOST_AXES = 5
"""The permutations of more axes take too long to try."""

_MOST_TOO_LONG = 4
"""Places; a larger difference in length is no slip at an end."""


@dataclass(frozen=True)
class Shapes:
    """A case of two shapes, with names for the axes of both."""

    case: Case

    @property
    def yours(self) -> Shape:
        """Return the shape of your result."""
        return self.case.yours.shape

    @property
    def expected(self) -> Shape:
        """Return the expected shape."""
        return self.case.expected.shape

    @property
    def both(self) -> str:
        """Return your shape and the expected one, in words."""
        return other_shape(self.yours, self.expected).says

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of your axes."""
        return self.case.axes.names(self.yours)

    def right(self, yours: Numbers, expected: Numbers | None = None) -> bool:
        """Whether numbers in the right shape are the expected ones, and more than a few."""
        wanted = self.case.expected if expected is None else expected
        return wanted.size > 1 and wanted.min() != wanted.max() and close(yours, wanted, self.case.tau)


def detect_shape(case: Case) -> Iterator[Pattern]:
    """Yield how the shape came about, the surest first."""
    shapes = Shapes(case)
    if shapes.yours == shapes.expected:
        return
    for detector in (
        _ones,
        _exchanged,
        _reshaped,
        _repeated,
        _not_reduced,
        _reduced_too_far,
        _square,
        _batch,
        _length,
        _order,
        _wrong_axis,
        _lone_axis,
        _one_size,
    ):
        if fact := detector(shapes):
            yield Pattern(fact, NO_MAP)


def _ones(shapes: Shapes) -> Fact | None:
    """Return whether the shapes are the same but for axes of size 1."""
    if [size for size in shapes.yours if size != 1] != [size for size in shapes.expected if size != 1]:
        return None
    if len(shapes.yours) == len(shapes.expected):
        return None
    is_right = shapes.case.expected.size > 1 and shapes.right(shapes.case.yours.reshape(shapes.expected))
    more = len(shapes.yours) - len(shapes.expected)
    return axes_of_one(shapes.both, more > 0, is_right, abs(more) == 1)


def _exchanged(shapes: Shapes) -> Fact | None:
    """Return the right numbers, with axes in another order."""
    count = len(shapes.yours)
    if count != len(shapes.expected) or not 2 <= count <= _MOST_AXES:
        return None
    if sorted(shapes.yours) != sorted(shapes.expected):
        return None
    orders = [order for order in permutations(range(count)) if _reordered(shapes.yours, order) == shapes.expected]
    for order in orders:
        if shapes.right(shapes.case.yours.transpose(order)):
            moved = [at for at, source in enumerate(order) if at != source]
            names = [shapes.names[at] for at in (moved if len(moved) == 2 else order)]
            return exchanged_axes(shapes.both, tuple(names), len(moved) == 2)
    return None


def _reordered(shape: Shape, order: Sequence[int]) -> Shape:
    return tuple(shape[at] for at in order)


def _reshaped(shapes: Shapes) -> Fact | None:
    """Return as many numbers as expected: the right ones in order, or after a transpose."""
    if shapes.case.yours.size != shapes.case.expected.size or sorted(shapes.yours) == sorted(shapes.expected):
        return None
    if shapes.right(shapes.case.yours.reshape(shapes.expected)):
        return reshaped_numbers(shapes.both)
    for one, other in combinations(range(len(shapes.yours)), 2):
        if shapes.right(np.swapaxes(shapes.case.yours, one, other).reshape(shapes.expected)):
            return unmerged_axes(shapes.both, (shapes.names[one], shapes.names[other]))
    return None


def _repeated(shapes: Shapes) -> Fact | None:
    """Return the axis along which the right numbers are repeated."""
    yours, expected = shapes.case.yours, shapes.case.expected
    for at, size in enumerate(shapes.yours):
        if size > 1 and yours.size == size * expected.size and _is_repeated(yours, at):
            is_right = shapes.right(yours.take(0, at).reshape(shapes.expected))
            return repeated_numbers(shapes.both, shapes.names[at]) if is_right else None
    return None


def _is_repeated(values: Numbers, axis: int) -> bool:
    return np.array_equal(values, np.broadcast_to(values.take([0], axis), values.shape))


def _not_reduced(shapes: Shapes) -> Fact | None:
    """Return a mean or a sum over some axes that is missing."""
    yours, expected = shapes.case.yours, shapes.case.expected
    # Every set of axes is tried, so the work doubles with each axis.
    if len(shapes.yours) > 6 or yours.size <= expected.size or yours.min(initial=0) == yours.max(initial=0):
        return None
    return _reduction(shapes, yours, expected, shapes.names, is_missing=True)


def _reduced_too_far(shapes: Shapes) -> Fact | None:
    """Return a mean or a sum of the expected over some axes."""
    yours, expected = shapes.case.yours, shapes.case.expected
    # As above; and few different numbers have the same mean over several axes.
    if len(shapes.expected) > 6 or yours.size >= expected.size or shapes.case.values < 3:
        return None
    return _reduction(shapes, expected, yours, shapes.case.names, is_missing=False)


def _reduction(shapes: Shapes, whole: Numbers, part: Numbers, names: Sequence[str], *, is_missing: bool) -> Fact | None:
    """Return the mean or sum over axes of the whole that gives the part."""
    count = whole.ndim
    for axes in chain.from_iterable(combinations(range(count), size) for size in (1, 2, count)):
        for keepdims, (name, reduce) in product((False, True), _REDUCTIONS):
            reduced = np.asarray(reduce(whole, axis=axes, keepdims=keepdims))
            expected, yours = (reduced, part) if not is_missing else (part, reduced)
            if reduced.shape == part.shape and close(yours, expected, shapes.case.tau):
                return reduction(shapes.both, name, tuple(names[at] for at in axes), is_missing)
    return None


_REDUCTIONS: tuple[tuple[Literal["mean", "sum"], Callable[..., Any]], ...] = (("mean", np.mean), ("sum", np.sum))


def _square(shapes: Shapes) -> Fact | None:
    """Return numbers in a row against numbers in a column, which give a square."""
    if len(shapes.yours) < 2 or shapes.yours[-1] != shapes.yours[-2] or shapes.yours[-1] < 2:
        return None
    size = shapes.yours[-1]
    in_a_row = shapes.expected[-1:] == (size,) and shapes.expected[-2:] != (size, size)
    in_a_column = shapes.expected[-2:] == (size, 1)
    if not (in_a_row or in_a_column) or shapes.case.expected.size * size != shapes.case.yours.size:
        return None
    return None if any(_is_repeated(shapes.case.yours, at) for at in (-2, -1)) else square(shapes.both, size)


def _batch(shapes: Shapes) -> Fact | None:
    """Return whether the first axis is missing or too much."""
    case = shapes.case
    if shapes.expected and shapes.expected[1:] == shapes.yours:
        matching = [at for at, part in enumerate(case.expected) if close(case.yours, part, case.tau)]
        is_slice = bool(matching) and case.yours.size > 1
        return missing_first_axis(shapes.both, case.at(0), shapes.expected[0], matching[0] if is_slice else None)
    if shapes.yours and shapes.yours[1:] == shapes.expected:
        return extra_first_axis(shapes.both)
    return None


def _differing(shapes: Shapes) -> list[int]:
    if len(shapes.yours) != len(shapes.expected):
        return []
    return [at for at, pair in enumerate(zip(shapes.yours, shapes.expected, strict=True)) if pair[0] != pair[1]]


def _length(shapes: Shapes) -> Fact | None:
    """Return an axis that is a little too long or too short, where the numbers are right as far as both go."""
    differing = _differing(shapes)
    if len(differing) != 1:
        return None
    at = differing[0]
    more = shapes.yours[at] - shapes.expected[at]
    length = min(shapes.yours[at], shapes.expected[at])
    if abs(more) > _MOST_TOO_LONG or length < 2:
        return None
    long, short = (shapes.case.yours, shapes.case.expected) if more > 0 else (shapes.case.expected, shapes.case.yours)
    for start in range(abs(more) + 1):
        part = np.take(long, range(start, start + length), axis=at)
        if shapes.right(part, short):
            end: End = "end" if start == 0 else "beginning" if start == abs(more) else "both ends"
            return wrong_length(shapes.both, shapes.case.at(at), more, end)
    return None


def _order(shapes: Shapes) -> Fact | None:
    """Return the right sizes in another order, and not the right numbers."""
    if sorted(shapes.yours) != sorted(shapes.expected):
        return None
    differing = _differing(shapes)
    names = tuple(shapes.case.at(at) for at in differing) if len(differing) == 2 else ()
    return exchanged_sizes(shapes.both, names, shapes.case.values > 1)


def _wrong_axis(shapes: Shapes) -> Fact | None:
    """Return an axis that is gone and should be there, and one that is there and should be gone."""
    missing = _without(shapes.case.names, shapes.names)
    extra = _without(shapes.names, shapes.case.names)
    if len(missing) != 1 or len(extra) != 1 or not is_named(missing[0]) or not is_named(extra[0]):
        return None
    if missing[0] in extra[0] or extra[0] in missing[0]:
        return None  # `feature` and `input feature` are words for one size
    return other_axis(shapes.both, missing[0], extra[0])


def _without(names: Sequence[str], others: Sequence[str]) -> list[str]:
    return [name for name in names if name not in others]


def _lone_axis(shapes: Shapes) -> Fact | None:
    """Return an axis of size 1 where more is expected, or one axis less or more."""
    differing = _differing(shapes)
    if len(differing) == 1 and shapes.yours[differing[0]] == 1:
        at = differing[0]
        return one_for_all(shapes.both, shapes.case.at(at), shapes.expected[at])
    if len(shapes.yours) == len(shapes.expected) - 1:
        gone = [at for at in range(len(shapes.expected)) if _cut(shapes.expected, at) == shapes.yours]
        if len(gone) == 1 and is_named(shapes.case.at(gone[0])):
            return missing_axis(shapes.both, shapes.case.at(gone[0]))
    elif len(shapes.yours) == len(shapes.expected) + 1:
        more = [at for at in range(len(shapes.yours)) if _cut(shapes.yours, at) == shapes.expected]
        if len(more) == 1 and is_named(shapes.names[more[0]]):
            return extra_axis(shapes.both, shapes.names[more[0]])
    return None


def _cut(shape: Shape, at: int) -> Shape:
    return shape[:at] + shape[at + 1 :]


def _one_size(shapes: Shapes) -> Fact | None:
    """Return the one size that is another one."""
    differing = _differing(shapes)
    if len(differing) != 1:
        return None
    at = differing[0]
    yours, expected, axes = shapes.yours[at], shapes.expected[at], shapes.case.axes
    axis = shapes.case.at(at)
    # Where the axis has no word, its expected size equals one of the trial by chance, such as a number of new tokens.
    symbol, expected_symbol = (axes.symbol(yours), axes.symbol(expected)) if is_named(axis) else (None, None)
    return other_size(shapes.both, axis, symbol, yours, expected, expected_symbol)
