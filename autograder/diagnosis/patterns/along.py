"""Detects a factor or an offset that differs from index to index of an axis, or from row to row."""

from collections.abc import Iterator

import numpy as np

from autograder.comparison.arrays import Numbers
from autograder.diagnosis.patterns.case import Case, others
from autograder.diagnosis.patterns.pattern import Pattern
from autograder.messages.elements import is_named
from autograder.messages.values import RuleAlong

_FEWEST_EACH = 4
"""The minimum of numbers that have to agree on each factor: fewer agree by chance."""


def detect(case: Case) -> Iterator[Pattern]:
    """Yield the factors, the offsets, or both, that belong to one axis, or to the rows along one."""
    # Few different numbers fit a factor for each index by chance.
    if case.is_whole or not case.finite or case.values < 8 or case.expected.ndim < 2:
        return
    for axis, count in enumerate(case.expected.shape):
        if count > 1:
            yield from _by(case, others(case.expected.ndim, axis), case.at(axis), is_row=False)
    last = case.expected.ndim - 1
    if last > 1 or not is_named(case.at(0)):
        yield from _by(case, (last,), case.at(last), is_row=True)
    else:
        yield from _affine(case, (last,), case.at(0), is_row=False)


def _by(case: Case, over: tuple[int, ...], axis: str, *, is_row: bool) -> Iterator[Pattern]:
    """Yield what is the same over some axes and differs along the others."""
    if np.prod([case.expected.shape[at] for at in over]) < _FEWEST_EACH or not _varies(case.expected, over):
        return
    squares = (case.expected**2).sum(axis=over, keepdims=True)
    ratios = (case.yours * case.expected).sum(axis=over, keepdims=True) / np.where(squares > 0, squares, 1)
    if case.same(case.yours, ratios * case.expected) and (ratios != 0).all():
        owner = None if is_row else _owner(case, ratios.reshape(-1))
        yield Pattern(RuleAlong("ratio", axis, is_row, float(ratios.min()), float(ratios.max()), owner))
        return
    shifts = (case.yours - case.expected).mean(axis=over, keepdims=True)
    if case.same(case.yours, case.expected + shifts):
        owner = None if is_row else _owner(case, np.abs(shifts).reshape(-1))
        yield Pattern(RuleAlong("offset", axis, is_row, float(shifts.min()), float(shifts.max()), owner))
        return
    yield from _affine(case, over, axis, is_row=is_row)


def _varies(expected: Numbers, over: tuple[int, ...]) -> bool:
    """Whether the numbers that share a factor differ among themselves; otherwise any factor would fit."""
    spread, size = expected.std(axis=over), np.sqrt((expected**2).mean(axis=over))
    # A few constant rows, such as padding, are no reason to give up.
    return bool((spread > 1e-2 * size).mean() > 0.8)


def _affine(case: Case, over: tuple[int, ...], axis: str, *, is_row: bool) -> Iterator[Pattern]:
    if np.prod([case.expected.shape[at] for at in over]) < _FEWEST_EACH + 1:
        return
    middle, yours = case.expected.mean(axis=over, keepdims=True), case.yours.mean(axis=over, keepdims=True)
    spread = case.expected - middle
    squares = (spread**2).sum(axis=over, keepdims=True)
    slopes = (spread * (case.yours - yours)).sum(axis=over, keepdims=True) / np.where(squares > 0, squares, 1)
    # A slope of about 0 would compare rounding alone.
    if (np.abs(slopes) < 1e-3).any() or not case.same(case.yours - yours, slopes * spread):
        return
    yield Pattern(RuleAlong("affine", axis, is_row))


def _owner(case: Case, numbers: Numbers) -> str | None:
    """Return the name of a known part that has these numbers."""
    return next((name for name, part in case.known.items() if case.same(numbers, np.abs(part).reshape(-1))), None)
