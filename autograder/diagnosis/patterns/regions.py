"""Detects a result that is wrong in one region only: some indices of an axis, or one side of the diagonal."""

import math
from collections.abc import Iterator

import numpy as np

from autograder.comparison.arrays import Numbers
from autograder.diagnosis.patterns.case import FEW, Case, Places, others
from autograder.diagnosis.patterns.pattern import Pattern, Sample
from autograder.messages.arrangement import Region, Side, WrongAlong, WrongAt, WrongSide, WrongZeros
from autograder.messages.elements import is_named

_MOST_LISTED = 5
"""Indices; a list of more is no region."""

_FULL, _SOME_BITS, _ENOUGH = 10.0, 5.0, 20.0
"""Bits of proof: of one right number, of an index that counts as right, and of a part that is right."""


def detect(case: Case) -> Iterator[Pattern]:
    """Yield the parts that are wrong while the rest is right, the smallest part first."""
    wrong = case.wrong
    if case.expected.size <= FEW or not wrong.any() or wrong.all() or not np.isfinite(case.yours[wrong]).all():
        return
    found = [region for axis in range(wrong.ndim) if (region := _along(case, axis, wrong)) is not None]
    if case.nearly_right:
        yield from _zeros(case, wrong)
    yield from _corner(case, wrong)
    yield from _triangle(case, wrong)
    sample = _sample(wrong)
    ordered = [fact for _, fact in sorted(found, key=lambda region: region[0])]
    yield from (Pattern(fact, sample) for fact in ordered if fact.region != "some")
    yield from _zeros(case, wrong)
    yield from (Pattern(fact, sample) for fact in ordered if fact.region == "some")


def _corner(case: Case, wrong: Places) -> Iterator[Pattern]:
    """Yield one index of several axes, where all over the others is wrong."""
    index = [int(at) for at in np.argwhere(wrong)[0]]
    single = [at for at in range(wrong.ndim) if _is_single(case, at, wrong)]
    rest = [count for at, count in enumerate(wrong.shape) if at not in single]
    if len(single) < 2 or wrong.sum() * 2 <= np.prod(rest):
        return
    where = tuple((case.at(at), index[at]) for at in single)
    yield Pattern(WrongAt(tuple(case.at(at) for at in single), where), _sample(wrong))


def _bits(case: Case) -> Numbers:
    """Return how much each right place proves, in bits; one that is right in most programs proves nothing."""
    right = ~case.wrong
    # A guess among few values is right by chance, so a right place proves as many bits as it takes to choose.
    if case.is_whole or 1 < case.values < 5:
        return np.asarray(right * math.log2(max(case.values, 2)))
    if case.values == 1:
        # Where one value is expected, only a program that varies elsewhere did not return it as a constant.
        return np.asarray(right * (_FULL if len(np.unique(case.yours)) > 4 else 1.0))
    given = np.isin(case.expected, (0, 1)) | ~np.isfinite(case.expected)
    return np.asarray((right & ~given) * _FULL)


def _known_right(case: Case, axis: int, right: Places) -> bool:
    """Whether what is right along an axis is so by more than chance, in half of its indices at least."""
    bits = np.asarray(_bits(case).sum(axis=others(case.expected.ndim, axis))).reshape(-1)[right]
    return bool(bits.sum() >= _ENOUGH and (bits >= _SOME_BITS).sum() * 2 >= len(bits))


def _sample(wrong: Places) -> Sample:
    right = int((~wrong).sum())
    return Sample(wrong, ("right", f"{wrong.size} of {wrong.size}", f"{right} of {wrong.size}"))


def _is_single(case: Case, axis: int, wrong: Places) -> bool:
    along = np.asarray(wrong.any(axis=others(wrong.ndim, axis))).reshape(-1)
    return is_named(case.at(axis)) and len(along) >= 2 and int(along.sum()) == 1


def _along(case: Case, axis: int, wrong: Places) -> tuple[float, WrongAlong] | None:
    """Return what is wrong along one axis, with the share of it that is; None where that has no name."""
    along = np.asarray(wrong.any(axis=others(wrong.ndim, axis))).reshape(-1)
    count, off = len(along), int(along.sum())
    if (
        # A half is no region.
        count < 3
        or off == count
        or not _known_right(case, axis, ~along)
        or not (is_named(case.at(axis)) or (wrong.ndim == 1 and not case.is_whole))
    ):
        return None
    where = [int(at) for at in np.flatnonzero(along)]
    region = _region(where, count)
    if region is None:
        return None
    word = case.at(axis) if is_named(case.at(axis)) else "index"
    first = int(np.flatnonzero(~along)[0]) if region == "right one" else where[0]
    return off / count, WrongAlong(region, word, first, where[-1], tuple(where) if region == "some" else ())


def _region(where: list[int], count: int) -> Region | None:
    """Return the name of the region that these indices of an axis are."""
    off, first, last = len(where), where[0], where[-1]
    is_together = last - first + 1 == off
    if off == 1:
        return "only first" if first == 0 else "only last" if last == count - 1 else "only one"
    if off == count - 1:
        return "right one" if not is_together else "right first" if first == 1 else "right last"
    # Among three indices, every second one is the middle or the ends.
    if count >= 4 and first < 2 and where == list(range(first, count, 2)):
        return "odd" if first else "even"
    if is_together and last == count - 1:
        return "from"
    if is_together and first == 0:
        return "up to"
    return "some" if off * 2 <= count and off <= _MOST_LISTED else None


def _triangle(case: Case, wrong: Places) -> Iterator[Pattern]:
    """Yield the side of the diagonal of the last two axes that is wrong all over."""
    if wrong.ndim < 2 or wrong.shape[-1] != wrong.shape[-2] or wrong.shape[-1] < 3:
        return
    rows, columns = np.indices(wrong.shape)[-2:]
    sides: dict[Side, Places] = {
        "on": rows == columns,
        "above": columns > rows,
        "below": columns < rows,
        "on and above": columns >= rows,
        "on and below": columns <= rows,
    }
    for side, places in sides.items():
        # A wrong number is right by chance now and then.
        if not (wrong & ~places).any() and wrong[places].mean() > 0.9 and _bits(case)[~places].sum() > _ENOUGH:
            yield Pattern(WrongSide(side, case.at(wrong.ndim - 2), case.at(wrong.ndim - 1)), _sample(wrong))
            return


def _zeros(case: Case, wrong: Places) -> Iterator[Pattern]:
    """Yield that only those places are wrong where 0 is expected."""
    zeros = case.expected == 0
    # Where nearly all is 0, wrong places are among the zeros by chance.
    if case.is_whole or not zeros.any() or zeros.mean() > 0.9 or (wrong & ~zeros).any():
        return
    if _bits(case)[~zeros].sum() < _ENOUGH:
        return
    yield Pattern(WrongZeros(int(wrong.sum()), int(zeros.sum())), _sample(wrong))
