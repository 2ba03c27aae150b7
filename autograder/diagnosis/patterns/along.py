"""A factor or an offset that is another one for each index of an axis, or for each row."""

from collections.abc import Iterator

import numpy as np

from autograder.comparison.arrays import Numbers
from autograder.diagnosis.patterns.axes import is_named
from autograder.diagnosis.patterns.case import Case, others
from autograder.diagnosis.patterns.pattern import Pattern, Shown

_FEWEST_EACH = 4
"""So many numbers have to agree on each factor."""


def detect(case: Case) -> Iterator[Pattern]:
    """Yield the factors, the offsets, or both, that belong to one axis, or to the rows along one."""
    if case.is_whole or not case.finite or case.values < 8 or case.expected.ndim < 2:
        return
    for axis, count in enumerate(case.expected.shape):
        if count > 1:
            yield from _by(case, others(case.expected.ndim, axis), f"each {case.at(axis)}", axis)
    last = case.expected.ndim - 1
    if last > 1 or not is_named(case.at(0)):
        yield from _by(case, (last,), f"each row along {case.at(last)}", None)
    else:
        yield from _affine(case, (last,), f"each {case.at(0)}")


def _by(case: Case, over: tuple[int, ...], each: str, axis: int | None) -> Iterator[Pattern]:
    """Yield what is the same over some axes and differs along the others."""
    if np.prod([case.expected.shape[at] for at in over]) < _FEWEST_EACH or not _varies(case.expected, over):
        return
    squares = (case.expected**2).sum(axis=over, keepdims=True)
    ratios = (case.yours * case.expected).sum(axis=over, keepdims=True) / np.where(squares > 0, squares, 1)
    low, high = float(ratios.min()), float(ratios.max())
    shown = Shown(f"a factor for {each}")
    if case.same(case.yours, ratios * case.expected) and (ratios != 0).all():
        owner = _owner(case, ratios.reshape(-1)) if axis is not None else ""
        phrase = f"{each} is the expected × a number of its own, {low:.3g} to {high:.3g}{owner}"
        question = "Is a scale per index missing or there twice, or is something normalized over the wrong axis?"
        yield Pattern("ratio-along", phrase, each, question, shown)
        return
    shifts = (case.yours - case.expected).mean(axis=over, keepdims=True)
    if case.same(case.yours, case.expected + shifts):
        low, high = float(shifts.min()), float(shifts.max())
        owner = _owner(case, np.abs(shifts).reshape(-1)) if axis is not None else ""
        phrase = f"{each} is the expected plus a number of its own, {low:.3g} to {high:.3g}{owner}"
        question = "Is a mean not taken away, a bias missing or there twice, or one added that does not belong?"
        yield Pattern("offset-along", phrase, each, question, Shown(f"an offset for {each}"))
        return
    yield from _affine(case, over, each)


def _varies(expected: Numbers, over: tuple[int, ...]) -> bool:
    """Whether the numbers that share a factor differ among themselves; otherwise any factor would fit."""
    spread, size = expected.std(axis=over), np.sqrt((expected**2).mean(axis=over))
    return bool((spread > 1e-2 * size).mean() > 0.8)


def _affine(case: Case, over: tuple[int, ...], each: str) -> Iterator[Pattern]:
    if np.prod([case.expected.shape[at] for at in over]) < _FEWEST_EACH + 1:
        return
    middle, yours = case.expected.mean(axis=over, keepdims=True), case.yours.mean(axis=over, keepdims=True)
    spread = case.expected - middle
    squares = (spread**2).sum(axis=over, keepdims=True)
    slopes = (spread * (case.yours - yours)).sum(axis=over, keepdims=True) / np.where(squares > 0, squares, 1)
    if (np.abs(slopes) < 1e-3).any() or not case.same(case.yours - yours, slopes * spread):
        return
    phrase = f"{each} is the expected × a number, plus a number, of its own"
    question = "Over which axes are mean and spread taken, and is one of them missing?"
    yield Pattern("affine-along", phrase, each, question, Shown(f"a factor and an offset for {each}"))


def _owner(case: Case, numbers: Numbers) -> str:
    """Name a known part that these numbers are."""
    name = next((name for name, part in case.known.items() if case.same(numbers, np.abs(part).reshape(-1))), None)
    return f": that is {name}" if name else ""
