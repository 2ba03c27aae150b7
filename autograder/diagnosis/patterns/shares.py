"""Weights that should sum to 1 along an axis, and what became of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from autograder.comparison.arrays import Numbers
from autograder.diagnosis.patterns.case import Case, Places
from autograder.diagnosis.patterns.constants import factors, named
from autograder.diagnosis.patterns.pattern import Pattern, Row, Shown

_SUM = 1e-3
_ALMOST_0 = 1e-12


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
        return np.asarray(self.expected <= _ALMOST_0, dtype=np.bool_)

    @property
    def sums(self) -> Numbers:
        return np.asarray(self.yours.sum(axis=-1))

    @property
    def row(self) -> Row:
        """The row of a table that tells most: what the rows add up to."""
        low, high = float(self.sums.min()), float(self.sums.max())
        text = f"{low:.4g}" if high - low < _SUM else f"{low:.3g} to {high:.3g}"
        return ("row sums", "1", text)

    def shown(self, title: str, places: Places | None = None) -> Shown:
        """Return evidence; `places` are in the order of these axes."""
        there = None if places is None else np.moveaxis(places, -1, self.axis)
        return Shown(title, there, self.row)


def detect(case: Case) -> Iterator[Pattern]:
    """Yield what is wrong with yours as weights; only if weights are expected."""
    axis = _axis(case)
    if axis is None:
        return
    weights = Weights(case, axis, np.moveaxis(case.yours, axis, -1), np.moveaxis(case.expected, axis, -1))
    if case.yours.min() < -1e-6:
        return
    for detector in (_hard, _masked, _another_axis, _scaled_rows, _temperature):
        yield from detector(weights)


def _axis(case: Case) -> int | None:
    """Return the axis along which the expected sums to 1, the last such; None where it is no tensor of weights."""
    if case.expected.size < 8 or not case.finite or case.is_whole or case.values < 4 or case.expected.min() < 0:
        return None
    for axis in reversed(range(case.expected.ndim)):
        if case.expected.shape[axis] >= 3 and _sums_to_1(case.expected, axis):
            return axis
    return None


def _sums_to_1(array: Numbers, *axes: int) -> bool:
    return bool((np.abs(array.sum(axis=axes) - 1) < _SUM).all())


def _hard(weights: Weights) -> Iterator[Pattern]:
    yours, expected = weights.yours, weights.expected
    top = yours.max(axis=-1, keepdims=True)
    one_hot = ((yours == top) | (yours == 0)).all() and (top == 1).all() and ((yours == 1).sum(axis=-1) == 1).all()
    if one_hot and (np.take_along_axis(expected, yours.argmax(-1)[..., None], -1)[..., 0] == expected.max(-1)).all():
        phrase = f"all weight on the largest {weights.word}: an argmax where a softmax is expected"
        yield Pattern("hard-max", phrase, weights.word, shown=weights.shown("largest differences"))


def _masked(weights: Weights) -> Iterator[Pattern]:
    """Places that get no weight in the expected, and some in yours; or the other way round."""
    hidden = weights.hidden
    if not hidden.any() or hidden.all():
        return
    leaks = hidden & (weights.yours > _ALMOST_0)
    shown = weights.shown("where no weight is expected", leaks)
    yield from _turned(weights, hidden)
    if not leaks.any():
        return
    least, share = float(weights.yours[leaks].min()), f"{leaks.sum()} of {hidden.sum()}"
    visible = np.where(hidden, 0.0, weights.yours)
    total = visible.sum(axis=-1, keepdims=True)
    right = bool((total > 0).all()) and weights.case.same(visible / np.where(total > 0, total, 1), weights.expected)
    sums = "rows sum to 1, so the softmax is right" if (np.abs(weights.sums - 1) < _SUM).all() else ""
    extra = f"; {sums}" if sums else ""
    if not right:
        if (leaks == hidden).all() and sums:
            phrase = f"every hidden {weights.word} gets weight, {least:.3g} or more; expected 0{extra}"
            yield Pattern("leak", phrase, f"{weights.word} all", "Does the mask reach these scores?", shown)
        return
    if (leaks != hidden).any():
        phrase = f"{share} hidden places get weight, {least:.3g} or more; expected 0{extra}"
        yield Pattern("leak", phrase, f"{weights.word} some", "Which condition of the mask is missing?", shown)
    elif _alike_within_rows(weights.yours, hidden):
        phrase = f"every hidden {weights.word} still gets weight, {least:.3g} or more; expected 0{extra}"
        detail = "They get the same weight in a row: their score became a number, such as 0, and e^0 = 1."
        yield Pattern("mask-number", phrase, weights.word, detail, shown)
    else:
        phrase = f"nothing is masked: every hidden {weights.word} gets weight, {least:.3g} or more; expected 0{extra}"
        yield Pattern("mask-missing", phrase, weights.word, "Does the mask reach the scores before the softmax?", shown)


def _alike_within_rows(yours: Numbers, hidden: Places) -> bool:
    """Whether what is hidden has one weight in each row, shown by rows with two hidden places at least."""
    several = hidden.sum(axis=-1) >= 2
    if not several.any():
        return False
    low = np.where(hidden, yours, np.inf).min(axis=-1)[several]
    high = np.where(hidden, yours, -np.inf).max(axis=-1)[several]
    return bool((high - low <= 1e-4 * high).all())


def _turned(weights: Weights, hidden: Places) -> Iterator[Pattern]:
    zeros = weights.yours <= _ALMOST_0
    if np.array_equal(zeros, hidden) or not zeros.any():
        return
    shown = weights.shown("where weight and none are exchanged", zeros != hidden)
    if np.array_equal(zeros, ~hidden):
        phrase = f"weight only where none is expected along {weights.word}: the mask is inverted"
        yield Pattern("mask-inverted", phrase, "", "Which of true and false means that it may be seen?", shown)
    elif zeros.shape[-1] == zeros.shape[-2] and np.array_equal(np.swapaxes(zeros, -1, -2), hidden):
        phrase = "weight on the other side of the diagonal: sees what comes later, and not what was before"
        yield Pattern("mask-transposed", phrase, "", "Are rows and columns of the mask exchanged?", shown)


def _scaled_rows(weights: Weights) -> Iterator[Pattern]:
    """Rows that are the expected ones times a number each."""
    sums = weights.sums
    if (np.abs(sums - 1) < _SUM).all() or (sums <= _ALMOST_0).any():
        return
    if not weights.case.same(weights.yours / sums[..., None], weights.expected):
        return
    shown = weights.shown("largest differences")
    low, high = float(sums.min()), float(sums.max())
    if weights.hidden.any() and high < 1 + _SUM:
        phrase = f"zeros are right, but rows no longer sum to 1: from {low:.3g} to {high:.3g}"
        question = "Is the mask applied after the softmax? Then nobody shares out the weight it takes away."
        yield Pattern("mask-after", phrase, weights.word, question, shown)
    else:
        phrase = f"each row is the expected one times a number; rows sum to {low:.3g} to {high:.3g}, expected 1"
        yield Pattern("not-normalized", phrase, weights.word, f"What are they divided by, along {weights.word}?", shown)


def _another_axis(weights: Weights) -> Iterator[Pattern]:
    case = weights.case
    if _sums_to_1(case.yours, weights.axis):
        return
    shown = weights.shown("largest differences")
    for axis in range(case.yours.ndim):
        if axis != weights.axis and case.yours.shape[axis] > 1 and _sums_to_1(case.yours, axis):
            phrase = f"weights sum to 1 along {case.at(axis)}, expected along {weights.word}"
            yield Pattern(
                "other-axis", phrase, f"{axis - case.yours.ndim}", "Over which axis is the softmax taken?", shown
            )
            return
    for start in reversed(range(case.yours.ndim - 1)):
        if _sums_to_1(case.yours, *range(start, case.yours.ndim)):
            over = "all weights together" if start == 0 else f"weights of each {case.at(start - 1)} together"
            phrase = f"{over} sum to 1, expected those along {weights.word}"
            yield Pattern(
                "all-axes", phrase, f"{start - case.yours.ndim}", "Over which axis is the softmax taken?", shown
            )
            return


def _temperature(weights: Weights) -> Iterator[Pattern]:
    """A softmax of the same scores times a number: the logarithms are proportional, but for a term in each row."""
    seen = (weights.expected > _ALMOST_0) & (weights.yours > _ALMOST_0)
    if seen.mean() < 0.3 or (seen.sum(axis=-1) < 2).any() or not (np.abs(weights.sums - 1) < _SUM).all():
        return
    yours, expected = _centred(weights.yours, seen), _centred(weights.expected, seen)
    squares = float((expected * expected).sum())
    if squares == 0:
        return
    factor = float((yours * expected).sum()) / squares
    if abs(factor) < 1e-3 or abs(factor - 1) < 1e-3 or not _near(yours, factor * expected):
        return
    constants = named(factor, factors(weights.case.axes.sizes, weights.case.constants))
    how = "too sharp" if factor > 1 else "too even" if factor > 0 else "the wrong way round"
    phrase = f"{how}: the softmax of {factor:.4g} × the scores"
    yield Pattern(
        "temperature", phrase, how, shown=weights.shown("largest differences"), factor=factor, constants=constants
    )


def _centred(array: Numbers, seen: Places) -> Numbers:
    logs = np.where(seen, np.log(np.where(seen, array, 1.0)), 0.0)
    mean = logs.sum(axis=-1, keepdims=True) / np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    return np.asarray(np.where(seen, logs - mean, 0.0))


def _near(one: Numbers, other: Numbers) -> bool:
    return float(np.linalg.norm(one - other)) < 1e-3 * float(np.linalg.norm(other))
