"""Detects what is wrong with softmax weights: which axis sums to 1, and whether the mask reaches them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from autograder.comparison import Numbers
from autograder.results import Fact, span

from .case import Case, Pattern, Places, Row, Sample, are_bits
from .named_sizes import Coefficient, factors, named

# Masks, and softmax weights: what should be blocked, and what sums to 1.

Blocked = Literal["mask", "inf"]
"""What is compared: true and false, or where scores are -inf."""


def _relation(of: Blocked, id_: str, says: str, asks: str = "", data: object = None) -> Fact:
    if of == "mask":
        return Fact(f"mask-{id_}", says, (), asks, "some of them", data=data)
    return Fact(f"inf-{id_}", f"-inf at other places: {says}", (), asks, "where only one of the two is -inf", data=data)


def inversion(of: Blocked, off_diagonal: tuple[str, ...] = ()) -> Fact:
    """True and false are exchanged everywhere, or everywhere but on the diagonal of the two `off_diagonal` axes."""
    if off_diagonal:
        return _relation(of, "inverted-off-diagonal", "inverted everywhere but on the diagonal", data=off_diagonal)
    asks = "Which one marks a visible place, True or False?"
    says = "inverted: true and false are exchanged everywhere" if of == "mask" else "inverted everywhere"
    return _relation(of, "inverted", says, asks)


def turned_mask(of: Blocked, rows: str, columns: str, is_inverted: bool) -> Fact:
    """Right after swapping the last two axes, and with `is_inverted` exchanging true and false."""
    says = f"right after swapping {rows} and {columns}"
    if is_inverted:
        asks = "Is the diagonal on the side where it belongs?"
        return _relation(of, "transposed-inverted", f"{says} and exchanging true and false", asks)
    asks = f"Which index counts {rows}, and which {columns}? Lower and upper triangle are exchanged."
    return _relation(of, "transposed", says, asks)


def flipped_mask(of: Blocked, axis: str) -> Fact:
    """In reverse order along an axis."""
    return _relation(of, "flipped", f"in reverse order along {axis}")


def wrong_diagonal(of: Blocked, offset: int, is_extra: bool, rows: str) -> Fact:
    """Right but for a diagonal: the main one, or one beside it, is too much or missing."""
    names = {0: "the diagonal", 1: "the diagonal above the main one", -1: "the diagonal below the main one"}
    says = f"right but for {names[offset]}, which is {'too much' if is_extra else 'missing'}"
    asks = f"May a {rows} see itself, or the one after it? The argument diagonal of tril and triu decides."
    return _relation(of, "diagonal", says, asks, (offset, is_extra))


def wrong_places(of: Blocked, is_more: bool, count: int, size: int, is_bool: bool) -> Fact:
    """Some places are blocked, or open, that should not be; all others are right."""
    places, verb = f"{count} of {size} places", "is" if count == 1 else "are"
    says = f"{places} too {'many' if is_more else 'few'}, right at the others"
    if is_bool:
        says = f"{places} {verb} {is_more} where {not is_more} is expected, the others are right"
    asks = "Which condition blocks these by mistake?"
    if is_more:
        asks = "Is a condition missing that should block these, or joined by `or` instead of `and`?"
    return _relation(of, "more" if is_more else "fewer", says, asks, ())


# Softmax weights.

_HIDDEN = "where no weight is expected"
_EXCHANGED = "where weight and none are exchanged"
_WHICH_AXIS = "Over which axis is the softmax taken?"


def all_on_largest(axis: str) -> Fact:
    """All weight is on the largest score."""
    return Fact("hard-max", f"all weight on the largest {axis}", ("an argmax where a softmax is expected",))


def hidden_weight(
    cause: Literal["missing", "number", "unknown"],
    axis: str,
    is_all: bool,
    least: float,
    count: int,
    size: int,
    sums_to_1: bool,
) -> Fact:
    """Hidden places get weight: because nothing is masked, their score became a number, or in another way.

    `is_all` is false where only `count` of `size` get some; `sums_to_1` says that the softmax itself is right.
    """
    also = ("rows sum to 1, so the softmax is right",) if sums_to_1 else ()
    weight = f"weight, {least:.3g} or more; expected 0"
    match cause:
        case "missing":
            asks = "Does the mask reach the scores before the softmax?"
            says = f"nothing is masked: every hidden {axis} gets {weight}"
        case "number":
            asks = "Their weights in a row are equal: their score became a number, such as 0, and e^0 = 1."
            says = f"every hidden {axis} still gets {weight}"
        case "unknown" if is_all:
            asks, says = "Does the mask reach these scores?", f"every hidden {axis} gets {weight}"
        case _:
            asks = "Which condition of the mask is missing?"
            says = f"{count} of {size} hidden places get {weight}"
    id_ = "leak" if cause == "unknown" else f"mask-{cause}"
    return Fact(id_, says, also, asks, _HIDDEN, data=(axis, is_all))


def inverted_weights(axis: str) -> Fact:
    """Weight only where none is expected."""
    says = f"the mask is inverted: weight only where none is expected along {axis}"
    return Fact("mask-inverted", says, (), "Which one marks a visible place, True or False?", _EXCHANGED, data=())


TURNED_WEIGHTS = Fact(
    "mask-transposed",
    "weight on the other side of the diagonal",
    ("sees what comes later, and not what was before",),
    "Are rows and columns of the mask exchanged?",
    _EXCHANGED,
)
"""Weight on the other side of the diagonal."""


def wrong_sums(is_masked: bool, axis: str, low: float, high: float) -> Fact:
    """Rows do not sum to 1; with `is_masked` their zeros are right, so the mask was applied after the softmax."""
    sums = span(low, high)
    if is_masked:
        asks = "Is the mask applied after the softmax? Then the rows lose the weight that it removes."
        return Fact("mask-after", f"zeros are right, but rows no longer sum to 1: from {sums}", (), asks, data=axis)
    says, also = "each row is the expected one times a number", f"rows sum to {sums}, expected 1"
    return Fact("not-normalized", says, (also,), f"What do you divide the weights by, along {axis}?", data=axis)


def sums_along(at: int, is_together: bool, name: str | None, expected: str) -> Fact:
    """Weights sum to 1 along another axis, counted from the end; or with `is_together` from it to the last one."""
    if not is_together:
        says = f"weights sum to 1 along {name}, expected along {expected}"
        return Fact("other-axis", says, (), _WHICH_AXIS, data=at)
    over = f"weights of each {name} together" if name else "all weights together"
    return Fact("all-axes", f"{over} sum to 1, expected those along {expected}", (), _WHICH_AXIS, data=at)


Effect = Literal["sharp", "even", "reversed"]


def temperature(effect: Effect, factor: float) -> Fact:
    """A softmax of the right scores times a factor."""
    word = "the wrong way round" if effect == "reversed" else f"too {effect}"
    return Fact("temperature", f"{word}: the softmax of {factor:.4g} × the scores", data=effect)


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
        yield Pattern(all_on_largest(weights.word), weights.sample())


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
    yield Pattern(hidden_weight(cause, weights.word, is_all, least, *counts, sums_to_1), weights.sample(leaks))


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
        yield Pattern(inverted_weights(weights.word), sample)
    elif zeros.ndim > 1 and zeros.shape[-1] == zeros.shape[-2] and np.array_equal(np.swapaxes(zeros, -1, -2), hidden):
        yield Pattern(TURNED_WEIGHTS, sample)


def _scaled_rows(weights: Weights) -> Iterator[Pattern]:
    """Yield rows that are the expected ones times a number each."""
    sums = weights.sums
    if (np.abs(sums - 1) < _SUM).all() or (sums <= _ALMOST_0).any():
        return
    if not weights.case.same(weights.yours / sums[..., None], weights.expected):
        return
    low, high = float(sums.min()), float(sums.max())
    is_masked = bool(weights.hidden.any()) and high < 1 + _SUM
    yield Pattern(wrong_sums(is_masked, weights.word, low, high), weights.sample())


def _another_axis(weights: Weights) -> Iterator[Pattern]:
    case = weights.case
    if _sums_to_1(case.yours, weights.axis):
        return
    count = case.yours.ndim
    for axis in range(count):
        if axis != weights.axis and case.yours.shape[axis] > 1 and _sums_to_1(case.yours, axis):
            yield Pattern(sums_along(axis - count, False, case.at(axis), weights.word), weights.sample())
            return
    for start in reversed(range(count - 1)):
        if _sums_to_1(case.yours, *range(start, count)):
            name = case.at(start - 1) if start else None
            yield Pattern(sums_along(start - count, True, name, weights.word), weights.sample())
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
    yield Pattern(temperature(effect, factor), weights.sample(), Coefficient(factor, names))


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
        yield inversion(of)
        return
    if yours.ndim >= 2:
        yield from _of_square(yours, expected, case, of)
    for axis in range(yours.ndim):
        if yours.shape[axis] > 2 and np.array_equal(np.flip(yours, axis), expected):
            yield flipped_mask(of, case.at(axis))
    more, fewer = int((yours & ~expected).sum()), int((expected & ~yours).sum())
    if (more > 0) != (fewer > 0):
        yield wrong_places(of, more > 0, more + fewer, case.expected.size, case.is_bool)


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
            yield turned_mask(of, *names, is_inverted)
            return
    diagonal = np.eye(rows, dtype=bool)
    wrong = yours != expected
    if not (wrong & diagonal).any() and (wrong | diagonal).all():
        yield inversion(of, names)
        return
    for offset in (0, 1, -1):
        band = np.broadcast_to(np.eye(rows, k=offset, dtype=bool), wrong.shape)
        # Half of a diagonal is enough, as a padding mask may hide the rest of it.
        if wrong.any() and not (wrong & ~band).any() and wrong[band].mean() > 0.5:
            yield wrong_diagonal(of, offset, bool(yours[wrong].all()), names[0])
            return
