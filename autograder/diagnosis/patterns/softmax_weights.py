"""Detects what is wrong with softmax weights: which axis sums to 1, and whether the mask reaches them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from autograder.comparison.arrays import Numbers
from autograder.diagnosis.patterns.case import Case, Places
from autograder.diagnosis.patterns.constants import factors, named
from autograder.diagnosis.patterns.pattern import Pattern, Row, Sample
from autograder.messages import masks as facts
from autograder.messages.constants import Coefficient

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


def detect(case: Case) -> Iterator[Pattern]:
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
    if case.expected.size < 8 or not case.finite or case.is_whole or case.expected.min() < 0:
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
        yield Pattern(facts.ArgMax(weights.word), weights.sample())


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
    yield Pattern(facts.HiddenWeight(cause, weights.word, is_all, least, *counts, sums_to_1), weights.sample(leaks))


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
        yield Pattern(facts.WeightsInverted(weights.word), sample)
    elif zeros.ndim > 1 and zeros.shape[-1] == zeros.shape[-2] and np.array_equal(np.swapaxes(zeros, -1, -2), hidden):
        yield Pattern(facts.WeightsTurned(), sample)


def _scaled_rows(weights: Weights) -> Iterator[Pattern]:
    """Yield rows that are the expected ones times a number each."""
    sums = weights.sums
    if (np.abs(sums - 1) < _SUM).all() or (sums <= _ALMOST_0).any():
        return
    if not weights.case.same(weights.yours / sums[..., None], weights.expected):
        return
    low, high = float(sums.min()), float(sums.max())
    is_masked = bool(weights.hidden.any()) and high < 1 + _SUM
    yield Pattern(facts.SumsWrong(is_masked, weights.word, low, high), weights.sample())


def _another_axis(weights: Weights) -> Iterator[Pattern]:
    case = weights.case
    if _sums_to_1(case.yours, weights.axis):
        return
    count = case.yours.ndim
    for axis in range(count):
        if axis != weights.axis and case.yours.shape[axis] > 1 and _sums_to_1(case.yours, axis):
            yield Pattern(facts.SumsAlong(axis - count, False, case.at(axis), weights.word), weights.sample())
            return
    for start in reversed(range(count - 1)):
        if _sums_to_1(case.yours, *range(start, count)):
            name = case.at(start - 1) if start else None
            yield Pattern(facts.SumsAlong(start - count, True, name, weights.word), weights.sample())
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
    names = named(factor, factors(weights.case.axes.sizes, weights.case.constants))
    effect: facts.Effect = "sharp" if factor > 1 else "even" if factor > 0 else "reversed"
    yield Pattern(facts.Temperature(effect, factor), weights.sample(), Coefficient(factor, names))


def _centred(array: Numbers, seen: Places) -> Numbers:
    logs = np.where(seen, np.log(np.where(seen, array, 1.0)), 0.0)
    mean = logs.sum(axis=-1, keepdims=True) / np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    return np.asarray(np.where(seen, logs - mean, 0.0))


def _near(one: Numbers, other: Numbers) -> bool:
    return float(np.linalg.norm(one - other)) < 1e-3 * float(np.linalg.norm(other))
