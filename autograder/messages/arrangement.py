"""The right numbers in other places, and numbers that are wrong in one region only."""

from dataclasses import field
from typing import Literal

from autograder.messages.elements import Position, item, joined, one_of, position
from autograder.messages.wording import Fact, Wording

_MOVED = "the right numbers, elsewhere"
_VIEW = "view and reshape keep the order of the numbers in memory; only transpose and permute exchange axes."
_MOST_LISTED = 8
"""An order of more slices fits no message."""


class Rearranged(Fact):
    """The right numbers in an order without a name."""

    id = "rearranged"

    def wording(self) -> Wording:
        return Wording("the right numbers, in other places", witnesses=_MOVED)


class AxesSwapped(Fact):
    """Right after swapping two axes."""

    one: str
    other: str

    id = "transposed"

    def wording(self) -> Wording:
        asks = "Which of the two does a row stand for, and which a column?"
        return Wording(f"right after swapping {self.one} and {self.other}", (), asks, _MOVED)


class AxesReordered(Fact):
    """Right after its axes are put in another order."""

    order: tuple[int, ...]

    id = "transposed"

    def wording(self) -> Wording:
        return Wording(f"right after its axes are put in the order {self.order}", witnesses=_MOVED)


class ViewedWrongly(Fact):
    """Two axes are exchanged by a view alone, or a view reads them wrongly after a transpose."""

    one: str
    other: str
    is_transposed: bool

    @property
    def id(self) -> str:
        return "transpose-then-view" if self.is_transposed else "view-for-transpose"

    def wording(self) -> Wording:
        names = f"{self.one} and {self.other}"
        if self.is_transposed:
            says = f"{names} are exchanged by a transpose, then a view reads them wrongly"
            return Wording(says, (), _VIEW, _MOVED)
        return Wording(f"{names} are exchanged by a view", ("that needs a transpose",), _VIEW, _MOVED)


class Interleaved(Fact):
    """An axis was split into two, the faster one first."""

    one: str
    other: str

    id = "split-otherwise"

    def wording(self) -> Wording:
        names = f"{self.one} and {self.other}"
        asks = f"Which of {names} varies slower in what was split? It has to come first in the view."
        return Wording(f"{names} are interleaved", ("split in the other order",), asks, _MOVED)


class SplitOtherwise(Fact):
    """One axis was split into parts in the other order: `parts` times `size` is expected."""

    axis: str
    parts: int = field(compare=False)
    size: int = field(compare=False)

    id = "split-otherwise"

    def wording(self) -> Wording:
        also = f"split into {self.size} × {self.parts} where {self.parts} × {self.size} is expected"
        asks = "Which part varies slower? It comes first in the view."
        return Wording(f"{self.axis} is interleaved", (also,), asks, _MOVED)


class MergedUntransposed(Fact):
    """Parts were merged into the last axis while another axis stood between them."""

    between: str
    into: str = field(compare=False)
    parts: int = field(compare=False)

    id = "merge-without-transpose"

    def wording(self) -> Wording:
        says = f"merged into {self.into} without a transpose"
        return Wording(says, (f"it has to bring the {self.parts} parts behind {self.between}",), _VIEW, _MOVED)


class Permuted(Fact):
    """The right slices along an axis, in an order without a name."""

    axis: str
    order: tuple[int, ...] = field(compare=False)

    id = "permuted"

    def wording(self) -> Wording:
        listed = (f"the order is {list(self.order)}",) if len(self.order) <= _MOST_LISTED else ()
        return Wording(f"the right numbers along {self.axis}, in another order", listed, witnesses=_MOVED)


class Repeated(Fact):
    """A slice stands in place of all others, or of one; `source` is which, if it is the same in each trial."""

    axis: str
    is_everywhere: bool
    source: Literal["last"] | int | None
    index: int = field(compare=False)
    held: int = field(compare=False)

    id = "repeated"

    def wording(self) -> Wording:
        place = f"every {one_of(self.axis)}" if self.is_everywhere else item(self.axis, self.index)
        asks = f"Is the same {one_of(self.axis)} read in every step, or one number used for all?"
        return Wording(f"{place} holds what {item(self.axis, self.held)} should", (), asks, _MOVED)


class Reordered(Fact):
    """The slices along an axis stand in an order that has a name."""

    order: Literal["flipped", "pairs", "halves", "apart", "together"]
    axis: str

    @property
    def id(self) -> str:
        return self.order

    def wording(self) -> Wording:
        says, also, asks = {
            "flipped": (f"in reverse order along {self.axis}", (), "From which end do you count?"),
            "pairs": (
                f"each pair of neighbours along {self.axis} is exchanged",
                (),
                "Which of the two in each pair comes first?",
            ),
            "halves": (f"the two halves along {self.axis} are exchanged", (), "Which half comes first?"),
            "apart": (
                f"along {self.axis} the even places come first, then the odd ones",
                ("expected them in turn",),
                "Are two halves joined that should alternate?",
            ),
            "together": (
                f"along {self.axis} the two halves alternate",
                ("expected one after the other",),
                "Do two halves alternate that should be joined?",
            ),
        }[self.order]
        return Wording(says, also, asks, _MOVED)


class Rotated(Fact):
    """The slices along an axis are moved by some places, and what leaves at one end comes in at the other."""

    axis: str
    steps: int

    id = "rolled"

    def wording(self) -> Wording:
        also = "what leaves at one end comes in at the other"
        return Wording(f"rotated by {abs(self.steps)} along {self.axis}", (also,), "Where should the end go?", _MOVED)


class Shifted(Fact):
    """Right but for a move by a few places along an axis."""

    axis: str
    steps: int
    is_late: bool

    id = "shifted"

    def wording(self) -> Wording:
        places = "one place" if self.steps == 1 else f"{self.steps} places"
        says = f"{places} too {'late' if self.is_late else 'early'} along {self.axis}; right but for that"
        asks = f"Does the first {self.axis} have the number 0 or 1, and where does the last one go?"
        return Wording(says, (), asks, _MOVED)


# Regions.

_WRONG = "where it is wrong"

Region = Literal[
    "only first",
    "only last",
    "only one",
    "right first",
    "right last",
    "right one",
    "odd",
    "even",
    "from",
    "up to",
    "some",
]


class WrongAlong(Fact):
    """Wrong at some indices of an axis, right at the others. `first` and `last` are the ends of the region."""

    region: Region
    axis: str
    first: int = field(compare=False)
    last: int = field(compare=False)
    indices: tuple[int, ...] = field(default=(), compare=False)

    id = "region"

    def wording(self) -> Wording:
        axis, first, last = self.axis, self.first, self.last
        says, asks = {
            "only first": (f"wrong only at the first {axis}", f"What is special about {axis} 0?"),
            "only last": (f"wrong only at the last {axis}", f"Does something end before the last {axis}?"),
            "only one": (f"wrong only at {axis} {first}", ""),
            "right first": (
                f"right only at the first {axis}",
                f"What do later ones depend on that {axis} 0 does not?",
            ),
            "right last": (
                f"right only at the last {axis}",
                f"What does the last {axis} have, or see, that the others lack?",
            ),
            "right one": (f"right only at {axis} {first}", ""),
            "odd": (f"wrong at every odd {axis}, right at the others", "How are the odd ones made?"),
            "even": (f"wrong at every even {axis}, right at the others", "How are the even ones made?"),
            "from": (
                f"right up to {axis} {first - 1}, wrong from {axis} {first} on",
                f"What changes at {axis} {first}?",
            ),
            "up to": (
                f"wrong up to {axis} {last}, right from {axis} {last + 1} on",
                f"What changes after {axis} {last}?",
            ),
            "some": (f"wrong only at {axis} {joined([str(index) for index in self.indices or (first,)])}", ""),
        }[self.region]
        return Wording(says, (), asks, _WRONG)


class WrongAt(Fact):
    """Wrong at one index of several axes, and all over the others."""

    axes: tuple[str, ...]
    where: Position = field(compare=False)

    id = "region"

    def wording(self) -> Wording:
        return Wording(f"wrong only at {position(self.where)}", (), "What is special about this one?", _WRONG)


Side = Literal["on", "above", "below", "on and above", "on and below"]


class WrongSide(Fact):
    """Wrong on one side of the diagonal of the last two axes."""

    side: Side
    rows: str = field(compare=False)
    columns: str = field(compare=False)

    id = "triangle"

    def wording(self) -> Wording:
        asks = f"On which side is the {self.columns} after the {self.rows}?"
        return Wording(f"wrong only {self.side} the diagonal of {self.rows} × {self.columns}", (), asks, _WRONG)


class WrongZeros(Fact):
    """Wrong only where 0 is expected."""

    count: int = field(compare=False)
    size: int = field(compare=False)

    id = "zeros"

    def wording(self) -> Wording:
        says = f"wrong only where 0 is expected, at {self.count} of {self.size} such places"
        return Wording(says, (), "What should be 0 there: is it blocked, padded or dropped?", _WRONG)
