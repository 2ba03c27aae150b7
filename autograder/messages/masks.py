"""Masks, and softmax weights: what should be blocked, and what sums to 1."""

from dataclasses import field
from typing import Literal

from autograder.messages.elements import span
from autograder.messages.wording import LARGEST, Fact, Wording

Blocked = Literal["mask", "inf"]
"""What is compared: true and false, or where scores are -inf."""


def _relation(of: Blocked, says: str, asks: str = "") -> Wording:
    if of == "mask":
        return Wording(says, (), asks, "some of them")
    return Wording(f"-inf at other places: {says}", (), asks, "where only one of the two is -inf")


class Inverted(Fact):
    """True and false are exchanged everywhere, or everywhere but on the diagonal of the two `off_diagonal` axes."""

    of: Blocked
    off_diagonal: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.of}-inverted-off-diagonal" if self.off_diagonal else f"{self.of}-inverted"

    def wording(self) -> Wording:
        if self.off_diagonal:
            return _relation(self.of, "inverted everywhere but on the diagonal")
        asks = "Which one marks a visible place, True or False?"
        says = "inverted: true and false are exchanged everywhere" if self.of == "mask" else "inverted everywhere"
        return _relation(self.of, says, asks)


class Turned(Fact):
    """Right after swapping the last two axes, and with `is_inverted` exchanging true and false."""

    of: Blocked
    rows: str
    columns: str
    is_inverted: bool

    @property
    def id(self) -> str:
        return f"{self.of}-transposed-inverted" if self.is_inverted else f"{self.of}-transposed"

    def wording(self) -> Wording:
        says = f"right after swapping {self.rows} and {self.columns}"
        if self.is_inverted:
            asks = "Is the diagonal on the side where it belongs?"
            return _relation(self.of, f"{says} and exchanging true and false", asks)
        asks = f"Which index counts {self.rows}, and which {self.columns}? Lower and upper triangle are exchanged."
        return _relation(self.of, says, asks)


class Flipped(Fact):
    """In reverse order along an axis."""

    of: Blocked
    axis: str

    @property
    def id(self) -> str:
        return f"{self.of}-flipped"

    def wording(self) -> Wording:
        return _relation(self.of, f"in reverse order along {self.axis}")


class DiagonalWrong(Fact):
    """Right but for a diagonal: the main one, or one beside it, is too much or missing."""

    of: Blocked
    offset: int
    is_extra: bool
    rows: str = field(compare=False)

    @property
    def id(self) -> str:
        return f"{self.of}-diagonal"

    def wording(self) -> Wording:
        names = {0: "the diagonal", 1: "the diagonal above the main one", -1: "the diagonal below the main one"}
        says = f"right but for {names[self.offset]}, which is {'too much' if self.is_extra else 'missing'}"
        asks = f"May a {self.rows} see itself, or the one after it? The argument diagonal of tril and triu decides."
        return _relation(self.of, says, asks)


class PlacesDiffer(Fact):
    """Some places are blocked, or open, that should not be; all others are right."""

    of: Blocked
    is_more: bool
    count: int = field(compare=False)
    size: int = field(compare=False)
    is_bool: bool = field(compare=False)

    @property
    def id(self) -> str:
        return f"{self.of}-{'more' if self.is_more else 'fewer'}"

    def wording(self) -> Wording:
        places, verb = f"{self.count} of {self.size} places", "is" if self.count == 1 else "are"
        says = f"{places} too {'many' if self.is_more else 'few'}, right at the others"
        if self.is_bool:
            says = f"{places} {verb} {self.is_more} where {not self.is_more} is expected, the others are right"
        asks = "Which condition blocks these by mistake?"
        if self.is_more:
            asks = "Is a condition missing that should block these, or joined by `or` instead of `and`?"
        return _relation(self.of, says, asks)


# Softmax weights.

_HIDDEN = "where no weight is expected"
_EXCHANGED = "where weight and none are exchanged"
_WHICH_AXIS = "Over which axis is the softmax taken?"


class ArgMax(Fact):
    """All weight is on the largest score."""

    axis: str

    id = "hard-max"

    def wording(self) -> Wording:
        return Wording(f"all weight on the largest {self.axis}", ("an argmax where a softmax is expected",))


class HiddenWeight(Fact):
    """Hidden places get weight: because nothing is masked, their score became a number, or in another way.

    `is_all` is false where only `count` of `size` get some; `sums_to_1` says that the softmax itself is right.
    """

    cause: Literal["missing", "number", "unknown"]
    axis: str
    is_all: bool
    least: float = field(compare=False)
    count: int = field(compare=False)
    size: int = field(compare=False)
    sums_to_1: bool = field(compare=False)

    @property
    def id(self) -> str:
        return "leak" if self.cause == "unknown" else f"mask-{self.cause}"

    def wording(self) -> Wording:
        also = ("rows sum to 1, so the softmax is right",) if self.sums_to_1 else ()
        weight = f"weight, {self.least:.3g} or more; expected 0"
        match self.cause:
            case "missing":
                asks = "Does the mask reach the scores before the softmax?"
                says = f"nothing is masked: every hidden {self.axis} gets {weight}"
            case "number":
                asks = "Their weights in a row are equal: their score became a number, such as 0, and e^0 = 1."
                says = f"every hidden {self.axis} still gets {weight}"
            case "unknown" if self.is_all:
                asks, says = "Does the mask reach these scores?", f"every hidden {self.axis} gets {weight}"
            case _:
                asks = "Which condition of the mask is missing?"
                says = f"{self.count} of {self.size} hidden places get {weight}"
        return Wording(says, also, asks, _HIDDEN)


class WeightsInverted(Fact):
    """Weight only where none is expected."""

    axis: str = field(compare=False)

    id = "mask-inverted"

    def wording(self) -> Wording:
        says = f"the mask is inverted: weight only where none is expected along {self.axis}"
        return Wording(says, (), "Which one marks a visible place, True or False?", _EXCHANGED)


class WeightsTurned(Fact):
    """Weight on the other side of the diagonal."""

    id = "mask-transposed"

    def wording(self) -> Wording:
        says = "weight on the other side of the diagonal"
        also = "sees what comes later, and not what was before"
        return Wording(says, (also,), "Are rows and columns of the mask exchanged?", _EXCHANGED)


class SumsWrong(Fact):
    """Rows do not sum to 1; with `is_masked` their zeros are right, so the mask was applied after the softmax."""

    is_masked: bool
    axis: str
    low: float = field(compare=False)
    high: float = field(compare=False)

    @property
    def id(self) -> str:
        return "mask-after" if self.is_masked else "not-normalized"

    def wording(self) -> Wording:
        sums = span(self.low, self.high)
        if self.is_masked:
            asks = "Is the mask applied after the softmax? Then the rows lose the weight that it removes."
            return Wording(f"zeros are right, but rows no longer sum to 1: from {sums}", (), asks)
        says = "each row is the expected one times a number"
        return Wording(
            says, (f"rows sum to {sums}, expected 1",), f"What do you divide the weights by, along {self.axis}?"
        )


class SumsAlong(Fact):
    """Weights sum to 1 along another axis, counted from the end; or with `is_together` from it to the last one."""

    at: int
    is_together: bool
    name: str | None = field(compare=False)
    expected: str = field(compare=False)

    @property
    def id(self) -> str:
        return "all-axes" if self.is_together else "other-axis"

    def wording(self) -> Wording:
        if not self.is_together:
            return Wording(f"weights sum to 1 along {self.name}, expected along {self.expected}", (), _WHICH_AXIS)
        over = f"weights of each {self.name} together" if self.name else "all weights together"
        return Wording(f"{over} sum to 1, expected those along {self.expected}", (), _WHICH_AXIS)


Effect = Literal["sharp", "even", "reversed"]


class Temperature(Fact):
    """A softmax of the right scores times a factor."""

    effect: Effect
    factor: float = field(compare=False)

    id = "temperature"

    def wording(self) -> Wording:
        effect = "the wrong way round" if self.effect == "reversed" else f"too {self.effect}"
        return Wording(f"{effect}: the softmax of {self.factor:.4g} × the scores", witnesses=LARGEST)
