"""One constant explains everything: a sign, a factor, an offset, or both."""

from collections.abc import Iterator

import numpy as np

from autograder.diagnosis.patterns.case import FEW, Case
from autograder.diagnosis.patterns.constants import factors, named, terms
from autograder.diagnosis.patterns.pattern import Pattern, Shown

CLOSE_TO_ONE = 1e-3

_STEADY = 1e-3


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
    if abs(factor) < 1e-12 or not case.same(case.yours / factor, case.expected):
        return
    shown = Shown("every number by the same factor")
    if abs(factor + 1) < CLOSE_TO_ONE:
        question = "Is a difference taken the wrong way round, or a minus missing?"
        yield Pattern("sign", "the expected numbers with the sign flipped", detail=question, shown=shown)
        return
    if abs(factor - 1) < CLOSE_TO_ONE:
        return
    constants = named(factor, factors(case.axes.sizes, case.constants))
    phrase = f"{factor:.4g} × the expected in every element"
    yield Pattern("ratio", phrase, shown=shown, factor=factor, constants=constants)


def _term(number: float) -> str:
    return f"{'+' if number > 0 else '-'} {abs(number):.4g}"


def _offset(case: Case) -> Iterator[Pattern]:
    difference = case.yours - case.expected
    middle = float(difference.mean())
    scale = float(np.abs(case.expected).max())
    if abs(middle) < 10 * case.tau * scale or np.abs(difference - middle).max() > _STEADY * abs(middle):
        return
    phrase = f"the expected {_term(middle)} in every element"
    constants = named(middle, terms(case.axes.sizes))
    question = "What is added everywhere, or not taken away?"
    shown = Shown("every number by the same amount")
    yield Pattern("offset", phrase, detail=question, shown=shown, factor=middle, constants=constants)


def _affine(case: Case) -> Iterator[Pattern]:
    if case.values < 5 or case.expected.size < 8:
        return
    centre, yours = case.expected.mean(), case.yours.mean()
    spread = case.expected - centre
    slope = float((spread * (case.yours - yours)).sum() / (spread * spread).sum())
    shift = float(yours - slope * centre)
    if abs(slope) < 1e-6 or not case.same(case.yours - yours, slope * spread):
        return
    if abs(slope + 1) < CLOSE_TO_ONE and abs(shift - 1) < CLOSE_TO_ONE:
        return  # 1 - x is a function with a name
    if abs(shift) < 1e-3 * abs(slope) * float(np.abs(case.expected).max()):
        return
    phrase = f"{slope:.4g} × the expected {_term(shift)} in every element"
    question = "Is a mean taken away, or a scale or shift applied, that does not belong there?"
    yield Pattern("affine", phrase, detail=question, shown=Shown("every number by the same rule"))


def _of_few(case: Case) -> Iterator[Pattern]:
    """A factor or a term of few numbers could be anything, so it needs a name."""
    factor = _fitted(case)
    if abs(factor) > 1e-12 and case.same(case.yours / factor, case.expected):
        if abs(factor + 1) < CLOSE_TO_ONE:
            question = "Is a difference taken the wrong way round, or a minus missing?"
            yield Pattern("sign", "the expected with the sign flipped", detail=question)
        elif abs(factor - 1) > CLOSE_TO_ONE:
            constants = named(factor, factors(case.axes.sizes, case.constants))
            phrase = f"{factor:.4g} × the expected"
            yield Pattern("ratio", phrase, factor=factor, constants=constants, needs_name=True)
    difference = case.yours - case.expected
    middle = float(difference.mean())
    if abs(middle) > 1e-3 and np.abs(difference - middle).max() <= _STEADY * abs(middle):
        constants = tuple(each for each in named(middle, terms(case.axes.sizes)) if each.family != "number")
        phrase = f"the expected {_term(middle)}"
        yield Pattern("offset", phrase, factor=middle, constants=constants, needs_name=True)
