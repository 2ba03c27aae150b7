"""Detects one constant that explains everything: a sign, a factor, an offset, or both."""

from collections.abc import Iterator

import numpy as np

from autograder.diagnosis.patterns.case import FEW, Case
from autograder.diagnosis.patterns.constants import factors, named, terms
from autograder.diagnosis.patterns.pattern import Pattern
from autograder.messages.constants import Coefficient
from autograder.messages.values import Affine, Offset, Scaled, SignFlipped

CLOSE_TO_ONE = 1e-3

_STEADY = 1e-3
"""The largest relative spread of an offset that is the same everywhere."""


def detect(case: Case) -> Iterator[Pattern]:
    """Yield the constant that turns the expected into yours."""
    if case.is_whole or not case.finite or not case.expected.any():
        return
    if case.expected.size <= FEW:
        yield from _of_few(case)
        return
    if case.values < 2:
        return
    yield from _factor(case)
    yield from _offset(case)
    yield from _affine(case)


def _fitted(case: Case) -> float:
    squares = float((case.expected * case.expected).sum())
    return float((case.yours * case.expected).sum()) / squares if squares else 0.0


def _factor(case: Case) -> Iterator[Pattern]:
    factor = _fitted(case)
    # Yours are 0, and nothing can be divided by the factor.
    if abs(factor) < 1e-12 or not case.same(case.yours / factor, case.expected):
        return
    if abs(factor + 1) < CLOSE_TO_ONE:
        yield Pattern(SignFlipped())
    elif abs(factor - 1) >= CLOSE_TO_ONE:
        names = named(factor, factors(case.axes.sizes, case.constants))
        yield Pattern(Scaled(factor, is_few=False), coefficient=Coefficient(factor, names))


def _offset(case: Case) -> Iterator[Pattern]:
    difference = case.yours - case.expected
    middle = float(difference.mean())
    scale = float(np.abs(case.expected).max())
    # A smaller offset may be rounding.
    if abs(middle) < 10 * case.tau * scale or np.abs(difference - middle).max() > _STEADY * abs(middle):
        return
    coefficient = Coefficient(middle, named(middle, terms(case.axes.sizes)))
    yield Pattern(Offset(middle, is_few=False), coefficient=coefficient)


def _affine(case: Case) -> Iterator[Pattern]:
    # A factor and an offset fit any two different numbers.
    if case.values < 5 or case.expected.size < 8:
        return
    centre, yours = case.expected.mean(), case.yours.mean()
    spread = case.expected - centre
    slope = float((spread * (case.yours - yours)).sum() / (spread * spread).sum())
    shift = float(yours - slope * centre)
    # Yours are one number, whatever is expected.
    if abs(slope) < 1e-6 or not case.same(case.yours - yours, slope * spread):
        return
    if abs(slope + 1) < CLOSE_TO_ONE and abs(shift - 1) < CLOSE_TO_ONE:
        return  # 1 - x is a function with a name
    # The shift is rounding: a factor alone explains it.
    if abs(shift) < 1e-3 * abs(slope) * float(np.abs(case.expected).max()):
        return
    yield Pattern(Affine(slope, shift))


def _of_few(case: Case) -> Iterator[Pattern]:
    """Yield a factor or a term of few numbers; any would fit, so it needs a name."""
    factor = _fitted(case)
    if abs(factor) > 1e-12 and case.same(case.yours / factor, case.expected):
        if abs(factor + 1) < CLOSE_TO_ONE:
            yield Pattern(SignFlipped())
        elif abs(factor - 1) > CLOSE_TO_ONE:
            names = named(factor, factors(case.axes.sizes, case.constants))
            yield Pattern(Scaled(factor, is_few=True), coefficient=Coefficient(factor, names, needs_name=True))
    difference = case.yours - case.expected
    middle = float(difference.mean())
    if abs(middle) > 1e-3 and np.abs(difference - middle).max() <= _STEADY * abs(middle):
        names = tuple(name for name in named(middle, terms(case.axes.sizes)) if name.family != "number")
        yield Pattern(Offset(middle, is_few=True), coefficient=Coefficient(middle, names, needs_name=True))
