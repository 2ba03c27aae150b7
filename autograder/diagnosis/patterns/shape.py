"""Another shape: which axis is missing, too much, exchanged, too long, and whether the numbers are right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations

import numpy as np

from autograder.comparison.arrays import Numbers
from autograder.diagnosis.patterns.axes import is_named
from autograder.diagnosis.patterns.case import Case, close, joined
from autograder.diagnosis.patterns.pattern import Pattern, Shown

Shape = tuple[int, ...]

_MOST_AXES = 5
_MOST_TOO_LONG = 4
_NO_MAP = Shown(map=False)


@dataclass(frozen=True)
class Shapes:
    """A case of two shapes, with names for the axes of both."""

    case: Case

    @property
    def yours(self) -> Shape:
        return self.case.yours.shape

    @property
    def expected(self) -> Shape:
        return self.case.expected.shape

    @cached_property
    def both(self) -> str:
        return f"shape {self.yours}, expected {self.expected}"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of your axes."""
        return self.case.axes.names(self.yours)

    def right(self, yours: Numbers, expected: Numbers | None = None) -> bool:
        """Whether numbers in the right shape are the expected ones, and more than a few."""
        wanted = self.case.expected if expected is None else expected
        return wanted.size > 1 and wanted.min() != wanted.max() and close(yours, wanted, self.case.tau)


def detect(case: Case) -> Iterator[Pattern]:
    """Yield how the shape came about, the surest first."""
    shapes = Shapes(case)
    if shapes.yours == shapes.expected:
        return
    for detector in (
        _ones,
        _exchanged,
        _reshaped,
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
        yield from detector(shapes)


def _pattern(kind: str, phrase: str, claim: str = "", detail: str = "") -> Pattern:
    return Pattern(f"shape-{kind}", phrase, claim, detail, _NO_MAP)


def _ones(shapes: Shapes) -> Iterator[Pattern]:
    """The same but for axes of size 1."""
    if [each for each in shapes.yours if each != 1] != [each for each in shapes.expected if each != 1]:
        return
    if len(shapes.yours) == len(shapes.expected):
        return
    right = shapes.right(shapes.case.yours.reshape(shapes.expected)) or shapes.case.expected.size == 1
    values = "the values are right; " if right and shapes.case.expected.size > 1 else ""
    more = len(shapes.yours) > len(shapes.expected)
    one = abs(len(shapes.yours) - len(shapes.expected)) == 1
    axes = "an axis of size 1 is" if one else "axes of size 1 are"
    phrase = f"{values}{shapes.both}: {axes} {'too much' if more else 'missing'}"
    question = "keepdim decides whether a sum or mean leaves its axis; squeeze and unsqueeze take away and add one."
    yield _pattern("ones", phrase, f"{more} {bool(values)}", question)


def _exchanged(shapes: Shapes) -> Iterator[Pattern]:
    """The right numbers, with axes in another order."""
    count = len(shapes.yours)
    if count != len(shapes.expected) or not 2 <= count <= _MOST_AXES:
        return
    if sorted(shapes.yours) != sorted(shapes.expected):
        return
    orders = [order for order in permutations(range(count)) if _turned(shapes.yours, order) == shapes.expected]
    for order in orders:
        if shapes.right(shapes.case.yours.transpose(order)):
            moved = [at for at, each in enumerate(order) if at != each]
            names = [shapes.names[at] for at in moved]
            if len(moved) == 2:
                yield _pattern("exchanged", f"right after swapping {joined(names)}; {shapes.both}", joined(names))
            else:
                wanted = ", ".join(shapes.names[each] for each in order)
                yield _pattern("exchanged", f"right with its axes in the order {wanted}; {shapes.both}", wanted)
            return


def _turned(shape: Shape, order: Sequence[int]) -> Shape:
    return tuple(shape[each] for each in order)


def _reshaped(shapes: Shapes) -> Iterator[Pattern]:
    """As many numbers: the right ones in order, or after a transpose."""
    if shapes.case.yours.size != shapes.case.expected.size or sorted(shapes.yours) == sorted(shapes.expected):
        return
    if shapes.right(shapes.case.yours.reshape(shapes.expected)):
        yield _pattern(
            "reshaped",
            f"the right numbers in the right order; {shapes.both}",
            "",
            "Which axes have to be joined or split?",
        )
        return
    for one, other in combinations(range(len(shapes.yours)), 2):
        if shapes.right(np.swapaxes(shapes.case.yours, one, other).reshape(shapes.expected)):
            names = joined([shapes.names[one], shapes.names[other]])
            phrase = f"right once {names} are swapped and then axes are joined; {shapes.both}"
            question = "A transpose brings two axes side by side; only then can reshape join them."
            yield _pattern("unmerged", phrase, names, question)
            return


def _not_reduced(shapes: Shapes) -> Iterator[Pattern]:
    """A mean or a sum over some axes is missing."""
    yours, expected = shapes.case.yours, shapes.case.expected
    if len(shapes.yours) > 6 or yours.size <= expected.size or yours.min(initial=0) == yours.max(initial=0):
        return
    for count in (1, 2, len(shapes.yours)):
        for axes in combinations(range(len(shapes.yours)), count):
            for kept in (False, True):
                for name, reduce in (("mean", np.mean), ("sum", np.sum)):
                    reduced = np.asarray(reduce(shapes.case.yours, axis=axes, keepdims=kept))
                    if reduced.shape == shapes.expected and _equal(shapes, reduced):
                        words = joined([shapes.names[at] for at in axes])
                        phrase = f"its {name} over {words} is right, but is not taken; {shapes.both}"
                        yield _pattern("not-reduced", phrase, f"{name} {words}")
                        return


def _equal(shapes: Shapes, reduced: Numbers) -> bool:
    return close(reduced, shapes.case.expected, shapes.case.tau)


def _reduced_too_far(shapes: Shapes) -> Iterator[Pattern]:
    """A mean or a sum of the expected over some axes."""
    if len(shapes.expected) > 6 or shapes.case.yours.size >= shapes.case.expected.size or shapes.case.values < 3:
        return
    for count in (1, 2, len(shapes.expected)):
        for axes in combinations(range(len(shapes.expected)), count):
            for kept in (False, True):
                for name, reduce in (("mean", np.mean), ("sum", np.sum)):
                    reduced = np.asarray(reduce(shapes.case.expected, axis=axes, keepdims=kept))
                    if reduced.shape == shapes.yours and close(shapes.case.yours, reduced, shapes.case.tau):
                        words = joined([shapes.case.at(at) for at in axes])
                        phrase = f"the {name} of the expected over {words}: reduced too far; {shapes.both}"
                        yield _pattern("reduced-too-far", phrase, f"{name} {words}")
                        return


def _square(shapes: Shapes) -> Iterator[Pattern]:
    """Numbers in a row against numbers in a column give a square."""
    if len(shapes.yours) < 2 or shapes.yours[-1] != shapes.yours[-2] or shapes.yours[-1] < 2:
        return
    size = shapes.yours[-1]
    in_a_row = shapes.expected[-1:] == (size,) and shapes.expected[-2:] != (size, size)
    in_a_column = shapes.expected[-2:] == (size, 1)
    if (in_a_row or in_a_column) and shapes.case.expected.size * size == shapes.case.yours.size:
        phrase = f"{shapes.both}: ({size},) against ({size}, 1) broadcasts to ({size}, {size})"
        yield _pattern("square", phrase, "", "Which of the two has an axis of size 1 that the other lacks?")


def _batch(shapes: Shapes) -> Iterator[Pattern]:
    """The first axis is missing or too much."""
    first = shapes.case.at(0) if shapes.expected else ""
    if shapes.expected[1:] == shapes.yours and shapes.expected:
        matching = [
            at for at, each in enumerate(shapes.case.expected) if close(shapes.case.yours, each, shapes.case.tau)
        ]
        if matching and shapes.case.yours.size > 1:
            phrase = f"only {first} {matching[0]} of {shapes.expected[0]}, which is right; {shapes.both}"
        else:
            phrase = f"no {_axis_called(first)}; {shapes.both}"
        yield _pattern("no-first-axis", phrase, first)
    elif shapes.yours[1:] == shapes.expected and shapes.yours:
        yield _pattern("extra-axis", f"an axis too many at the front; {shapes.both}")


def _axis_called(name: str) -> str:
    return f"{name} axis" if is_named(name) else name


def _differing(shapes: Shapes) -> list[int]:
    if len(shapes.yours) != len(shapes.expected):
        return []
    return [at for at, pair in enumerate(zip(shapes.yours, shapes.expected, strict=True)) if pair[0] != pair[1]]


def _length(shapes: Shapes) -> Iterator[Pattern]:
    """One axis is a little too long or too short, and the numbers are right where both are."""
    differing = _differing(shapes)
    if len(differing) != 1:
        return
    at = differing[0]
    more = shapes.yours[at] - shapes.expected[at]
    length = min(shapes.yours[at], shapes.expected[at])
    if abs(more) > _MOST_TOO_LONG or length < 2:
        return
    long, short = (shapes.case.yours, shapes.case.expected) if more > 0 else (shapes.case.expected, shapes.case.yours)
    for start in range(abs(more) + 1):
        part = np.take(long, range(start, start + length), axis=at)
        if shapes.right(part, short):
            end = "at the end" if start == 0 else "at the beginning" if start == abs(more) else "at both ends"
            many = f"{abs(more)} too {'many' if more > 0 else 'few'} {end} of {shapes.case.at(at)}"
            yield _pattern("length", f"{many}, the rest is right; {shapes.both}", f"{more} {end} {shapes.case.at(at)}")
            return


def _order(shapes: Shapes) -> Iterator[Pattern]:
    """The right sizes in another order, and not the right numbers."""
    if sorted(shapes.yours) != sorted(shapes.expected):
        return
    differing = _differing(shapes)
    if len(differing) == 2:
        names = joined([shapes.case.at(at) for at in differing])
        wrong = ", and the numbers are not the expected ones" if shapes.case.values > 1 else ""
        yield _pattern("order", f"{names} are exchanged{wrong}; {shapes.both}", names)
    else:
        yield _pattern("order", f"the sizes are right, in another order; {shapes.both}", "all")


def _wrong_axis(shapes: Shapes) -> Iterator[Pattern]:
    """One axis is gone that should be there, another is there that should be gone."""
    missing = _without(shapes.case.names, shapes.names)
    extra = _without(shapes.names, shapes.case.names)
    if len(missing) != 1 or len(extra) != 1 or not is_named(missing[0]) or not is_named(extra[0]):
        return
    if missing[0] in extra[0] or extra[0] in missing[0]:
        return
    phrase = f"{missing[0]} is gone and {extra[0]} is there, expected the other way round; {shapes.both}"
    yield _pattern(
        "other-axis", phrase, f"{missing[0]} {extra[0]}", "Over which axis is it summed, averaged or indexed?"
    )


def _without(names: Sequence[str], others: Sequence[str]) -> list[str]:
    return [each for each in names if each not in others]


def _lone_axis(shapes: Shapes) -> Iterator[Pattern]:
    """One axis of size 1 where more is expected, or one axis less."""
    differing = _differing(shapes)
    if len(differing) == 1 and shapes.yours[differing[0]] == 1:
        word = shapes.case.at(differing[0])
        phrase = f"one number for all of {word}, expected {shapes.expected[differing[0]]}; {shapes.both}"
        yield _pattern("one-for-all", phrase, word)
        return
    if len(shapes.yours) == len(shapes.expected) - 1:
        gone = [at for at in range(len(shapes.expected)) if _cut(shapes.expected, at) == shapes.yours]
        if len(gone) == 1 and is_named(shapes.case.at(gone[0])):
            word = shapes.case.at(gone[0])
            question = f"Is something summed, averaged or indexed over {word} that should not be?"
            yield _pattern("missing-axis", f"the axis {word} is missing; {shapes.both}", word, question)
    elif len(shapes.yours) == len(shapes.expected) + 1:
        more = [at for at in range(len(shapes.yours)) if _cut(shapes.yours, at) == shapes.expected]
        if len(more) == 1 and is_named(shapes.names[more[0]]):
            word = shapes.names[more[0]]
            yield _pattern("additional-axis", f"an axis too many, {word}; {shapes.both}", word)


def _cut(shape: Shape, at: int) -> Shape:
    return shape[:at] + shape[at + 1 :]


def _one_size(shapes: Shapes) -> Iterator[Pattern]:
    """One size is another one."""
    differing = _differing(shapes)
    if len(differing) != 1:
        return
    at = differing[0]
    yours, expected = shapes.yours[at], shapes.expected[at]
    symbol, wanted = shapes.case.axes.symbol(yours), shapes.case.axes.symbol(expected)
    theirs = f"{yours}{f' ({symbol})' if symbol else ''}"
    right = f"{expected}{f' ({wanted})' if wanted else ''}"
    phrase = f"{shapes.case.at(at)} is {theirs}, expected {right}; {shapes.both}"
    yield _pattern("one-size", phrase, f"{shapes.case.at(at)} {symbol}")
