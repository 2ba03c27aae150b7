"""Detects NaN, infinity, one number everywhere, and memory that nothing was written to."""

from collections.abc import Iterator

import numpy as np

from autograder.diagnosis.patterns.case import FEW, Case, Places, close
from autograder.diagnosis.patterns.masks import relations
from autograder.diagnosis.patterns.pattern import Pattern, Row, Sample
from autograder.messages import Fact
from autograder.messages import special as facts

_HUGE = 1e30
_TINY = 1e-30
"""Numbers that no program of a course computes: together they look like memory as it was."""

_VERY_LOW = -1e4
"""A score below it is meant to be -inf: exp of it is 0 in every dtype."""


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
    if count:
        yield Pattern(_nan_fact(case, nan, count, size), Sample(nan, ("NaN", "0", str(count))))


def _nan_fact(case: Case, nan: Places, count: int, size: int) -> Fact:
    """Return which numbers are NaN: all, whole rows, or some."""
    if count == size:
        return facts.AllNaN(size)
    rest_is_right = not bool((case.wrong & ~nan).any())
    if row := _whole_rows(nan):
        rows, total = int(nan.all(axis=-1).sum()), size // nan.shape[-1]
        row_axis = case.at(nan.ndim - 2)
        return facts.RowsNaN(row_axis, rest_is_right, case.at(nan.ndim - 1), rows, total, case.position(row))
    return facts.SomeNaN(rest_is_right, count, size, case.position(_first(nan)))


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
    is_negative = bool((case.yours[infinite] < 0).all())
    rest_is_right = not bool((case.wrong & ~infinite).any())
    fact = facts.Infinite(is_negative, rest_is_right, count, infinite.size, case.position(_first(infinite)))
    yield Pattern(fact, Sample(infinite, ("infinite", "0", str(count))))


def _minus_infinity(case: Case) -> Iterator[Pattern]:
    """Yield what stands where -inf is expected."""
    expected, yours = np.isneginf(case.expected), np.isneginf(case.yours)
    if not expected.any() or np.isnan(case.yours).any():
        return
    sample = Sample(expected, ("-inf", str(int(expected.sum())), str(int(yours.sum()))))
    if yours.any():
        if not np.array_equal(yours, expected):
            apart = Sample(yours != expected, sample.row)
            yield from (Pattern(relation, apart) for relation in relations(yours, expected, case, "inf"))
        return
    there = case.yours[expected]
    rest = bool(np.isfinite(case.yours[~expected]).all())
    rest_is_right = rest and close(case.yours[~expected], case.expected[~expected], case.tau)
    if not there.any():
        yield Pattern(facts.NumberForInfinity("zero", rest_is_right, 0.0), sample)
    elif (there < _VERY_LOW).all():
        yield Pattern(facts.NumberForInfinity("low", rest_is_right, float(there.max())), sample)
    elif (there == there[0]).all():
        yield Pattern(facts.NumberForInfinity("number", rest_is_right, float(there[0])), sample)
    elif rest:
        yield Pattern(facts.NothingInfinite(int(expected.sum()), expected.size), sample)


def _unwritten(case: Case) -> Iterator[Pattern]:
    sizes = np.abs(case.yours)
    huge, tiny = sizes > _HUGE, (sizes > 0) & (sizes < _TINY)
    odd, expected = huge | tiny, np.abs(case.expected)
    modest = not ((expected > _HUGE) | ((expected > 0) & (expected < _TINY))).any()
    # Overflow gives huge numbers only, and underflow tiny ones only; unset memory has both.
    if case.expected.size > FEW and modest and odd.mean() > 0.1 and huge.any() and tiny.any():
        yield Pattern(facts.Unwritten(), Sample(odd, has_map=False))


def _one_number(case: Case) -> Iterator[Pattern]:
    if case.yours.size < 2 or case.yours.min() != case.yours.max():
        return
    number, dtype = float(case.yours.flat[0]), "bool" if case.is_bool else "number"
    sample = Sample(row=_spread(case), has_map=False)
    if case.expected.min() == case.expected.max():
        expected = float(case.expected.flat[0])
        yield Pattern(facts.SameEverywhere(None, number, expected, dtype), sample)
    elif case.is_bool:
        if case.expected.size > FEW:
            counts = int(case.wrong.sum()), case.expected.size
            yield Pattern(facts.SameEverywhere(bool(number), number, None, dtype, *counts), sample)
    elif number == 0:
        yield Pattern(facts.AllZero(), sample)
    else:
        yield Pattern(facts.SameEverywhere(None, number, None, dtype), sample)


def _spread(case: Case) -> Row | None:
    return None if case.is_whole else ("std", f"{case.expected.std():.4g}", f"{case.yours.std():.4g}")


def _first(places: Places) -> tuple[int, ...]:
    return tuple(int(at) for at in np.argwhere(places)[0])
