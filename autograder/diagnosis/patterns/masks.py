"""Detects how one set of places is made of another: inverted, turned, shifted, more or fewer."""

from collections.abc import Iterator

import numpy as np

from autograder.diagnosis.patterns.case import Case, Places, are_bits
from autograder.diagnosis.patterns.pattern import Pattern, Row, Sample
from autograder.messages import Fact
from autograder.messages.masks import Blocked, DiagonalWrong, Flipped, Inverted, PlacesDiffer, Turned

_FEWEST = 6
"""Places; smaller masks fit several relations by chance."""


def detect(case: Case) -> Iterator[Pattern]:
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
