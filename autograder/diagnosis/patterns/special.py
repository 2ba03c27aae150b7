"""NaN, infinity, one number everywhere, memory nobody wrote to."""

from collections.abc import Iterator

import numpy as np

from autograder.diagnosis.patterns.axes import item
from autograder.diagnosis.patterns.case import FEW, Case, Places, close, joined
from autograder.diagnosis.patterns.masks import relations
from autograder.diagnosis.patterns.pattern import Pattern, Row, Shown

_HUGE = 1e30
_TINY = 1e-30
_VERY_LOW = -1e4


def detect(case: Case) -> Iterator[Pattern]:
    """Yield what is special about yours."""
    if not case.expected.size:
        return
    if not np.isfinite(case.expected).all():
        yield from _minus_infinity(case)
    yield from _nan(case)
    yield from _infinite(case)
    if case.finite:
        yield from _unwritten(case)
        yield from _one_number(case)


def _nan(case: Case) -> Iterator[Pattern]:
    nan = np.isnan(case.yours) & ~np.isnan(case.expected)
    count, size = int(nan.sum()), nan.size
    if not count:
        return
    shown = Shown("where it is NaN", nan, ("NaN", "0", str(count)))
    origin = "inf - inf, 0 × inf, 0 / 0, and the root or logarithm of a negative number are NaN."
    if count == size:
        phrase = "every number is NaN" if size > 1 else "NaN, expected a finite number"
        yield Pattern("all-nan", phrase, detail=origin, shown=shown)
        return
    right = not bool((case.wrong & ~nan).any())
    rest = "the others are right" if right else "others are wrong as well"
    if whole := _whole_rows(nan):
        rows = int(nan.all(axis=-1).sum())
        total = size // nan.shape[-1]
        word = case.at(nan.ndim - 2) if nan.ndim > 1 else "row"
        phrase = f"{rows} of {total} rows, whole, are NaN, {rest}; the first at {_at(case, whole)}"
        row = f"A row along {case.at(nan.ndim - 1)}"
        why = f"{row} becomes NaN if all of it is -inf before a softmax, or if 0 is divided by 0."
        yield Pattern("nan-rows", phrase, f"{word} {right}", why, shown)
        return
    phrase = f"{_share(count, size)} are NaN, {rest}; the first at {_at(case, _first(nan))}"
    yield Pattern("some-nan", phrase, str(right), origin, shown)


def _whole_rows(places: Places) -> tuple[int, ...] | None:
    """Return the first row if rows along the last axis are wholly in it, or not at all."""
    if places.ndim < 2 or places.shape[-1] < 2:
        return None
    whole = np.asarray(places.all(axis=-1))
    return _first(whole) if bool((places.any(axis=-1) == whole).all()) and whole.any() else None


def _infinite(case: Case) -> Iterator[Pattern]:
    infinite = np.isinf(case.yours) & np.isfinite(case.expected)
    count = int(infinite.sum())
    if not count:
        return
    low = bool((case.yours[infinite] < 0).all())
    shown = Shown("where it is infinite", infinite, ("infinite", "0", str(count)))
    sign = "-inf" if low else "inf"
    right = not bool((case.wrong & ~infinite).any())
    rest = ", the others are right" if right and count < infinite.size else ""
    phrase = f"{_share(count, infinite.size)} are {sign}{rest}; the first at {_at(case, _first(infinite))}"
    if infinite.size == 1:
        phrase = f"{sign}, expected a finite number"
    why = "The logarithm of 0 is -inf: is a score blocked here that should not be?" if low else ""
    yield Pattern(
        sign, phrase, str(right), why or "exp of a large number is infinite, and so is what is divided by 0.", shown
    )


def _minus_infinity(case: Case) -> Iterator[Pattern]:
    """What is expected to be -inf is something else."""
    expected, yours = np.isneginf(case.expected), np.isneginf(case.yours)
    if not expected.any() or np.isnan(case.yours).any():
        return
    shown = Shown("where -inf is expected", expected, ("-inf", str(int(expected.sum())), str(int(yours.sum()))))
    there = case.yours[expected]
    rest = bool(np.isfinite(case.yours[~expected]).all())
    right = rest and close(case.yours[~expected], case.expected[~expected], case.tau)
    others = ", the others are right" if right else ""
    if not yours.any() and not there.any():
        question = "What does a softmax make of a score of 0? e^0 = 1."
        yield Pattern("zero-for-inf", f"0 where -inf is expected{others}", str(right), question, shown)
    elif not yours.any() and (there < _VERY_LOW).all():
        phrase = f"{there.max():.4g} where -inf is expected{others}"
        yield Pattern(
            "low-for-inf", phrase, str(right), "A very low number is not -inf, nor is it one in every dtype.", shown
        )
    elif not yours.any() and (there == there[0]).all():
        yield Pattern("number-for-inf", f"{there[0]:.4g} where -inf is expected{others}", str(right), "", shown)
    elif not yours.any() and rest:
        yield Pattern("not-inf", f"nothing is -inf, expected {int(expected.sum())} of {expected.size}", "", "", shown)
    elif not np.array_equal(yours, expected):
        for relation in relations(yours, expected, case):
            phrase = f"-inf at other places: {relation.phrase}"
            yield Pattern(f"inf-{relation.id}", phrase, relation.claim, relation.detail, shown)


def _unwritten(case: Case) -> Iterator[Pattern]:
    sizes = np.abs(case.yours)
    huge, tiny = sizes > _HUGE, (sizes > 0) & (sizes < _TINY)
    odd, expected = huge | tiny, np.abs(case.expected)
    modest = not ((expected > _HUGE) | ((expected > 0) & (expected < _TINY))).any()
    if case.expected.size > FEW and modest and odd.mean() > 0.1 and huge.any() and tiny.any():
        question = "torch.empty gives memory as it is: is every place of it filled?"
        phrase = "looks like memory that nothing was written to"
        yield Pattern("unwritten", phrase, detail=question, shown=Shown("odd numbers", odd, map=False))


def _one_number(case: Case) -> Iterator[Pattern]:
    if case.yours.size < 2 or case.yours.min() != case.yours.max():
        return
    number = float(case.yours.flat[0])
    value = str(bool(number)) if case.is_bool else f"{number:.4g}"
    shown = Shown(row=_spread(case), map=False)
    if case.expected.min() == case.expected.max():
        expected = float(case.expected.flat[0])
        wanted = str(bool(expected)) if case.is_bool else f"{expected:.4g}"
        yield Pattern("constant", f"{value} everywhere, expected {wanted} everywhere", shown=shown)
    elif case.is_bool and case.expected.size <= FEW:
        return
    elif case.is_bool:
        wrong, size = int(case.wrong.sum()), case.expected.size
        phrase = f"{value} everywhere, expected {not number} at {wrong} of {size} places"
        yield Pattern("constant", phrase, value, shown=shown)
    elif number == 0:
        yield Pattern(
            "zero",
            "0 everywhere",
            detail="Is what you compute ever written there, or is it multiplied by 0?",
            shown=shown,
        )
    else:
        yield Pattern("constant", f"{value} everywhere, expected different numbers", shown=shown)


def _spread(case: Case) -> Row | None:
    return None if case.is_whole else ("std", f"{case.expected.std():.4g}", f"{case.yours.std():.4g}")


def _first(places: Places) -> tuple[int, ...]:
    return tuple(int(each) for each in np.argwhere(places)[0])


def _at(case: Case, index: tuple[int, ...]) -> str:
    """Name a place by its axes, which may be the first few only; axes of size 1 need no saying."""
    said = [item(case.at(at), each) for at, each in enumerate(index) if case.expected.shape[at] > 1]
    return joined(said) if said else "its only place"


def _share(count: int, size: int) -> str:
    return f"all {size} numbers" if count == size else f"{count} of {size} numbers"
