"""Detects the right numbers in other places: turned, reversed, shifted, permuted, repeated, or read otherwise."""

from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from autograder.comparison.arrays import Numbers
from autograder.diagnosis.patterns.case import CLOSE, FEW, Case, Places
from autograder.diagnosis.patterns.pattern import Pattern
from autograder.messages import Fact
from autograder.messages import arrangement as facts

Order = NDArray[np.intp]

_MOST_WORK = 4_000_000
"""Products for the distances between all slices along an axis: about 10 ms."""

_MOST_SHIFT = 3
_MOST_AXES = 5
"""The permutations of more axes take too long to try."""


def detect(case: Case) -> Iterator[Pattern]:
    """Yield how the expected numbers were moved."""
    # With two different numbers every order looks like another.
    if case.expected.size <= FEW or not case.finite or case.values < 3:
        return
    if _same_numbers(case):
        yield from _turned(case)
        yield from _read_otherwise(case)
        yield from _permuted(case)
        if len(np.unique(case.expected)) > case.expected.size // 2:
            yield Pattern(facts.Rearranged())
    else:
        yield from _permuted(case)
    yield from _shifted(case)


def _same_numbers(case: Case) -> bool:
    return case.same(np.sort(case.yours, axis=None), np.sort(case.expected, axis=None))


def _turned(case: Case) -> Iterator[Pattern]:
    """Yield axes of one size that are exchanged."""
    axes = range(case.expected.ndim)
    if not 2 <= len(axes) <= _MOST_AXES:
        return
    for one, other in combinations(axes, 2):
        if case.same(np.swapaxes(case.yours, one, other), case.expected):
            yield Pattern(facts.AxesSwapped(case.at(one), case.at(other)))
            return
    for order in permutations(axes):
        moved = case.yours.transpose(order)
        if case.same(moved, case.expected) and moved.shape == case.expected.shape:
            yield Pattern(facts.AxesReordered(order))
            return


def _read_otherwise(case: Case) -> Iterator[Pattern]:
    """Yield a view where a transpose is needed, and the other way round."""
    expected, yours = case.expected, case.yours
    for one, other in combinations(range(expected.ndim), 2):
        if 1 in (expected.shape[one], expected.shape[other]):
            continue
        names = case.at(one), case.at(other)
        back = np.swapaxes(expected, one, other)
        if case.same(back.reshape(expected.shape), yours):
            yield Pattern(facts.ViewedWrongly(*names, is_transposed=False))
            return
        if case.same(np.swapaxes(expected.reshape(back.shape), one, other), yours):
            yield Pattern(facts.ViewedWrongly(*names, is_transposed=True))
            return
    yield from _interleaved_pair(case)
    yield from _merged(case)


def _interleaved_pair(case: Case) -> Iterator[Pattern]:
    """Yield two axes that one axis was split into, the faster one first."""
    for one, other in combinations(range(case.expected.ndim), 2):
        first, second = case.expected.shape[one], case.expected.shape[other]
        if 1 in (first, second):
            continue
        last = np.moveaxis(case.expected, (one, other), (-2, -1))
        flat = last.reshape(*last.shape[:-2], second, first)
        for split in (np.swapaxes(flat, -1, -2), np.swapaxes(last, -1, -2).reshape(last.shape)):
            if case.same(np.moveaxis(split, (-2, -1), (one, other)), case.yours):
                yield Pattern(facts.Interleaved(case.at(one), case.at(other)))
                return


def _merged(case: Case) -> Iterator[Pattern]:
    """Yield two axes that were merged into the last one while another stood between them."""
    if case.expected.ndim < 2:
        return
    *leading, rows, width = case.expected.shape
    if rows == 1:
        return
    for parts in (count for count in range(2, width // 2 + 1) if width % count == 0):
        whole = np.swapaxes(case.expected.reshape(*leading, rows, parts, width // parts), -2, -3)
        if case.same(whole.reshape(case.expected.shape), case.yours):
            between, into = case.at(len(leading)), case.at(len(leading) + 1)
            yield Pattern(facts.MergedUntransposed(between, into, parts))
            return


def _permuted(case: Case) -> Iterator[Pattern]:
    """Yield slices along one axis in another order, or some of them in place of others."""
    for axis in range(case.expected.ndim):
        near = _near(case, axis)
        if near is None or not near.any(axis=1).all() or np.diagonal(near).all():
            continue
        word, here = case.at(axis), np.arange(len(near))
        known = (fact for order, fact in _orders(len(near), word) if near[here, order].all())
        fact = next(known, None)
        if fact is None and (near.sum(axis=1) == 1).all():
            fact = _of_order(near.argmax(axis=1), word)
        if fact is not None:
            yield Pattern(fact)


def _near(case: Case, axis: int) -> Places | None:
    """Return which of your slices equals which of the expected ones; None where that is not worth the work."""
    count = case.expected.shape[axis]
    if count < 2 or count * case.expected.size > _MOST_WORK:
        return None
    yours = np.moveaxis(case.yours, axis, 0).reshape(count, -1)
    expected = np.moveaxis(case.expected, axis, 0).reshape(count, -1)
    # A few single numbers stand in another order by chance.
    if expected.shape[1] == 1 and count < 5:
        return None
    # A distance is the root of a difference of squares, so it has more rounding than the numbers.
    scale = max(float(np.linalg.norm(expected)) / count**0.5, 1e-30)
    return np.asarray(_distances(yours, expected) <= 3 * case.tau * scale, dtype=np.bool_)


def _distances(one: Numbers, other: Numbers) -> Numbers:
    squares = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1)[None, :] - 2 * one @ other.T
    return np.asarray(np.sqrt(np.maximum(squares, 0)), dtype=np.float64)


def _of_order(order: Order, word: str) -> Fact | None:
    """Return what an order without a name is: a permutation, or slices in place of others; None for any other."""
    count = len(order)
    wrong = np.flatnonzero(order != np.arange(count))
    held = {int(at) for at in order}
    if len(held) == count:
        return facts.Permuted(word, tuple(int(at) for at in order))
    first = int(wrong[0])
    if len(held) == 1:
        [source] = held
        return facts.Repeated(word, True, "last" if source == count - 1 else source, first, source)
    if len(wrong) * 2 > count or len(wrong) == 1:
        return facts.Repeated(word, False, None, first, int(order[first]))
    return None


def _orders(count: int, word: str) -> Iterator[tuple[Order, Fact]]:
    """Yield the orders that have a name, each as the expected slice that stands in each place."""
    here = np.arange(count)
    yield here[::-1], facts.Reordered("flipped", word)
    if count % 2 == 0 and count > 2:
        yield here ^ 1, facts.Reordered("pairs", word)
        yield np.roll(here, count // 2), facts.Reordered("halves", word)
    # Nobody rolls by more than three places on purpose.
    for steps in (*range(1, 4), *range(-3, 0)):
        if count > 2 and abs(steps) < count:
            yield np.roll(here, steps), facts.Rotated(word, steps)
    # With fewer slices these orders are among those above.
    if count >= 5:
        apart = np.concatenate([here[0::2], here[1::2]])
        yield apart, facts.Reordered("apart", word)
        yield np.argsort(apart), facts.Reordered("together", word)
    for parts in (size for size in range(3, count // 2 + 1) if count % size == 0):
        yield here.reshape(parts, -1).T.reshape(-1), facts.SplitOtherwise(word, parts, count // parts)


def _shifted(case: Case) -> Iterator[Pattern]:
    """Yield a move along one axis that makes all but the ends right, unless the expected resembles itself moved."""
    for axis in range(case.expected.ndim):
        count = case.expected.shape[axis]
        yours, expected = np.moveaxis(case.yours, axis, 0), np.moveaxis(case.expected, axis, 0)
        for step in range(1, min(_MOST_SHIFT, (count - 1) // 2) + 1):
            for is_late, mine, theirs in (
                (True, yours[step:], expected[:-step]),
                (False, yours[:-step], expected[step:]),
            ):
                # Fewer than 4 numbers are alike by chance.
                if theirs.size < 4 or not case.same(mine, theirs) or _alike(expected, step):
                    continue
                yield Pattern(facts.Shifted(case.at(axis), step, is_late))
                return


def _alike(expected: Numbers, step: int) -> bool:
    """Whether an array moved by so many places is itself again, in its largest part."""
    one, other = expected[step:], expected[:-step]
    distance = float(np.linalg.norm(one - other))
    return distance < 100 * CLOSE * float(np.linalg.norm(expected))
