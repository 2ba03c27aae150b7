"""Detects what is wrong with softmax weights: which axis sums to 1, and whether the mask reaches them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from autograder.comparison import Numbers
from autograder.results import LARGEST, Fact, Wording, span

from .case import Case, Pattern, Places, Row, Sample, are_bits
from .named_sizes import Coefficient, factors, named

# Masks, and softmax weights: what should be blocked, and what sums to 1.

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


_SUM = 1e-3
"""The largest distance of a sum from 1 that is rounding, in the coarser dtypes too."""

_ALMOST_0 = 1e-12
"""A softmax gives a score of -1e9 a weight below it, so it counts as none."""


@dataclass(frozen=True)
class Weights:
    """A case of weights: expected to sum to 1 along the last axis, to which the real one was moved.

    `hidden` are the places where nothing is expected; `word` and `others` name the axes.
    """

    case: Case
    axis: int
    yours: Numbers
    expected: Numbers

    @property
    def word(self) -> str:
        return self.case.at(self.axis)

    @property
    def hidden(self) -> Places:
        """Return where the expected weight is zero."""
        return np.asarray(self.expected <= _ALMOST_0, dtype=np.bool_)

    @property
    def sums(self) -> Numbers:
        """Return the sums of your rows."""
        return np.asarray(self.yours.sum(axis=-1))

    @property
    def row(self) -> Row:
        """The row of a table that tells most: what the rows add up to."""
        low, high = float(self.sums.min()), float(self.sums.max())
        text = f"{low:.4g}" if high - low < _SUM else f"{low:.3g} to {high:.3g}"
        return ("row sums", "1", text)

    def sample(self, places: Places | None = None) -> Sample:
        """Return the numbers to show; `places` are in the order of these axes."""
        there = None if places is None else np.moveaxis(places, -1, self.axis)
        return Sample(there, self.row)


def detect_softmax_weights(case: Case) -> Iterator[Pattern]:
    """Yield what is wrong with yours as weights; only if weights are expected."""
    axis = _axis(case)
    if axis is None:
        return
    weights = Weights(case, axis, np.moveaxis(case.yours, axis, -1), np.moveaxis(case.expected, axis, -1))
    # Weights may be below 0 by rounding only.
    if case.yours.min() < -1e-6:
        return
    for detector in (_argmax, _masked, _another_axis, _scaled_rows, _temperature):
        yield from detector(weights)


def _axis(case: Case) -> int | None:
    """Return the axis along which the expected sums to 1, the last such; None where it is no tensor of weights."""
    # Few numbers add up to 1 by chance, and so do pairs.
    if case.expected.size < 8 or not case.finite or case.is_integral or case.expected.min() < 0:
        return None
    if 1 < case.values < 4:  # a few different numbers may sum to 1 by chance; equal ones are equal weights
        return None
    for axis in reversed(range(case.expected.ndim)):
        if case.expected.shape[axis] >= 3 and _sums_to_1(case.expected, axis):
            return axis
    return None


def _sums_to_1(array: Numbers, *axes: int) -> bool:
    return bool((np.abs(array.sum(axis=axes) - 1) < _SUM).all())


def _argmax(weights: Weights) -> Iterator[Pattern]:
    yours, expected = weights.yours, weights.expected
    top = yours.max(axis=-1, keepdims=True)
    one_hot = ((yours == top) | (yours == 0)).all() and (top == 1).all() and ((yours == 1).sum(axis=-1) == 1).all()
    if one_hot and (np.take_along_axis(expected, yours.argmax(-1)[..., None], -1)[..., 0] == expected.max(-1)).all():
        yield Pattern(ArgMax(weights.word), weights.sample())


def _masked(weights: Weights) -> Iterator[Pattern]:
    """Yield places that should get no weight and get some, or the other way round."""
    hidden = weights.hidden
    if not hidden.any() or hidden.all():
        return
    leaks = hidden & (weights.yours > _ALMOST_0)
    yield from _turned(weights, hidden)
    if not leaks.any():
        return
    visible = np.where(hidden, 0.0, weights.yours)
    total = visible.sum(axis=-1, keepdims=True)
    is_right = bool((total > 0).all()) and weights.case.same(visible / np.where(total > 0, total, 1), weights.expected)
    is_all, sums_to_1 = bool((leaks == hidden).all()), bool((np.abs(weights.sums - 1) < _SUM).all())
    if not is_right and not (is_all and sums_to_1):
        return
    cause: Literal["missing", "number", "unknown"] = "unknown"
    if is_right and is_all:
        cause = "number" if _alike_within_rows(weights.yours, hidden) else "missing"
    least, counts = float(weights.yours[leaks].min()), (int(leaks.sum()), int(hidden.sum()))
    yield Pattern(HiddenWeight(cause, weights.word, is_all, least, *counts, sums_to_1), weights.sample(leaks))


def _alike_within_rows(yours: Numbers, hidden: Places) -> bool:
    """Whether what is hidden has one weight in each row, shown by rows with two hidden places at least."""
    several = hidden.sum(axis=-1) >= 2
    if not several.any():
        return False
    low = np.where(hidden, yours, np.inf).min(axis=-1)[several]
    high = np.where(hidden, yours, -np.inf).max(axis=-1)[several]
    # Equal up to rounding in float32.
    return bool((high - low <= 1e-4 * high).all())


def _turned(weights: Weights, hidden: Places) -> Iterator[Pattern]:
    zeros = weights.yours <= _ALMOST_0
    if np.array_equal(zeros, hidden) or not zeros.any():
        return
    sample = weights.sample(zeros != hidden)
    if np.array_equal(zeros, ~hidden):
        yield Pattern(WeightsInverted(weights.word), sample)
    elif zeros.ndim > 1 and zeros.shape[-1] == zeros.shape[-2] and np.array_equal(np.swapaxes(zeros, -1, -2), hidden):
        yield Pattern(WeightsTurned(), sample)


def _scaled_rows(weights: Weights) -> Iterator[Pattern]:
    """Yield rows that are the expected ones times a number each."""
    sums = weights.sums
    if (np.abs(sums - 1) < _SUM).all() or (sums <= _ALMOST_0).any():
        return
    if not weights.case.same(weights.yours / sums[..., None], weights.expected):
        return
    low, high = float(sums.min()), float(sums.max())
    is_masked = bool(weights.hidden.any()) and high < 1 + _SUM
    yield Pattern(SumsWrong(is_masked, weights.word, low, high), weights.sample())


def _another_axis(weights: Weights) -> Iterator[Pattern]:
    case = weights.case
    if _sums_to_1(case.yours, weights.axis):
        return
    count = case.yours.ndim
    for axis in range(count):
        if axis != weights.axis and case.yours.shape[axis] > 1 and _sums_to_1(case.yours, axis):
            yield Pattern(SumsAlong(axis - count, False, case.at(axis), weights.word), weights.sample())
            return
    for start in reversed(range(count - 1)):
        if _sums_to_1(case.yours, *range(start, count)):
            name = case.at(start - 1) if start else None
            yield Pattern(SumsAlong(start - count, True, name, weights.word), weights.sample())
            return


def _temperature(weights: Weights) -> Iterator[Pattern]:
    """Yield a softmax of the same scores times a number: the logarithms are proportional, up to a term per row."""
    seen = (weights.expected > _ALMOST_0) & (weights.yours > _ALMOST_0)
    # Where most weights are 0, too few logarithms are left to compare.
    if seen.mean() < 0.3 or (seen.sum(axis=-1) < 2).any() or not (np.abs(weights.sums - 1) < _SUM).all():
        return
    yours, expected = _centred(weights.yours, seen), _centred(weights.expected, seen)
    squares = float((expected * expected).sum())
    if squares == 0:
        return
    factor = float((yours * expected).sum()) / squares
    if abs(factor) < 1e-3 or abs(factor - 1) < 1e-3 or not _near(yours, factor * expected):
        return
    names = named(factor, factors(weights.case.axes.used_sizes, weights.case.constants))
    effect: Effect = "sharp" if factor > 1 else "even" if factor > 0 else "reversed"
    yield Pattern(Temperature(effect, factor), weights.sample(), Coefficient(factor, names))


def _centred(array: Numbers, seen: Places) -> Numbers:
    logs = np.where(seen, np.log(np.where(seen, array, 1.0)), 0.0)
    mean = logs.sum(axis=-1, keepdims=True) / np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    return np.asarray(np.where(seen, logs - mean, 0.0))


def _near(one: Numbers, other: Numbers) -> bool:
    return float(np.linalg.norm(one - other)) < 1e-3 * float(np.linalg.norm(other))


# Detects how one set of places is made of another: inverted, turned, shifted, more or fewer.

_FEWEST = 6
"""Places; smaller masks fit several relations by chance."""


def detect_masks(case: Case) -> Iterator[Pattern]:
    """Yield how a mask, a tensor of true and false, differs from the expected one."""
    if not are_bits(case.yours) or not are_bits(case.expected) or case.expected.size < _FEWEST:
        return
    if not (case.is_bool or "bool" in case.dtypes):
        return
    yours, expected = case.yours != 0, case.expected != 0
    if not yours.any() or yours.all() or not expected.any() or expected.all():
        return
    row: Row = ("True", str(int(expected.sum())), str(int(yours.sum())))
    for relation in relations(yours, expected, case, "mask"):
        yield Pattern(relation, Sample(case.wrong, row))


def relations(yours: Places, expected: Places, case: Case, of: Blocked) -> Iterator[Fact]:
    """Yield how the places of yours come from the expected ones, the most specific relation first."""
    if np.array_equal(yours, ~expected):
        yield Inverted(of)
        return
    if yours.ndim >= 2:
        yield from _of_square(yours, expected, case, of)
    for axis in range(yours.ndim):
        if yours.shape[axis] > 2 and np.array_equal(np.flip(yours, axis), expected):
            yield Flipped(of, case.at(axis))
    more, fewer = int((yours & ~expected).sum()), int((expected & ~yours).sum())
    if (more > 0) != (fewer > 0):
        yield PlacesDiffer(of, more > 0, more + fewer, case.expected.size, case.is_bool)


def _of_square(yours: Places, expected: Places, case: Case, of: Blocked) -> Iterator[Fact]:
    """Yield relations of masks whose last two axes are alike, as those of a sequence to itself."""
    rows, columns = yours.shape[-2:]
    # In a square of 2 by 2 several relations hold at once.
    if rows != columns or rows < 3:
        return
    names = case.at(yours.ndim - 2), case.at(yours.ndim - 1)
    turned = np.swapaxes(yours, -1, -2)
    for is_inverted in (False, True):
        if np.array_equal(turned != is_inverted, expected):
            yield Turned(of, *names, is_inverted)
            return
    diagonal = np.eye(rows, dtype=bool)
    wrong = yours != expected
    if not (wrong & diagonal).any() and (wrong | diagonal).all():
        yield Inverted(of, names)
        return
    for offset in (0, 1, -1):
        band = np.broadcast_to(np.eye(rows, k=offset, dtype=bool), wrong.shape)
        # Half of a diagonal is enough, as a padding mask may hide the rest of it.
        if wrong.any() and not (wrong & ~band).any() and wrong[band].mean() > 0.5:
            yield DiagonalWrong(of, offset, bool(yours[wrong].all()), names[0])
            return
