"""Detects the right numbers in other places: turned, reversed, shifted, permuted, repeated, or read otherwise."""

import math
from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from autograder.comparison import Numbers
from autograder.results import Fact, Position, is_named, item, joined, one_of, position

from .case import CLOSE, FEW, Case, Pattern, Places, Sample, others
from .values import rule_along

# The right numbers in other places, and numbers that are wrong in one region only.

_MOVED = "the right numbers, elsewhere"
_OF_ANOTHER = "numbers of another index"
_VIEW = "view and reshape keep the order of the numbers in memory; only transpose and permute exchange axes."
_MOST_LISTED = 8
"""An order of more slices fits no message."""

REARRANGED = Fact("rearranged", "the right numbers, in other places", witnesses=_MOVED)
"""The right numbers in an order without a name."""


def swapped_axes(one: str, other: str) -> Fact:
    """Right after swapping two axes."""
    asks = "Which of the two does a row stand for, and which a column?"
    return Fact("transposed", f"right after swapping {one} and {other}", (), asks, _MOVED)


def reordered_axes(order: tuple[int, ...]) -> Fact:
    """Right after its axes are put in another order."""
    return Fact("transposed", f"right after its axes are put in the order {order}", witnesses=_MOVED)


def wrong_view(one: str, other: str, is_transposed: bool) -> Fact:
    """Two axes are exchanged by a view alone, or a view reads them wrongly after a transpose."""
    names = f"{one} and {other}"
    if is_transposed:
        says = f"{names} are exchanged by a transpose, then a view reads them wrongly"
        return Fact("transpose-then-view", says, (), _VIEW, _MOVED)
    says = f"{names} are exchanged by a view"
    return Fact("view-for-transpose", says, ("that needs a transpose",), _VIEW, _MOVED)


def interleaved_axes(one: str, other: str) -> Fact:
    """An axis was split into two, the faster one first."""
    names = f"{one} and {other}"
    asks = f"Which of {names} varies slower in what was split? It has to come first in the view."
    return Fact("split-otherwise", f"{names} are interleaved", ("split in the other order",), asks, _MOVED)


def interleaved_parts(axis: str, parts: int, size: int) -> Fact:
    """One axis was split into parts in the other order: `parts` times `size` is expected."""
    also = f"split into {size} × {parts} where {parts} × {size} is expected"
    asks = "Which part varies slower? It comes first in the view."
    return Fact("split-otherwise", f"{axis} is interleaved", (also,), asks, _MOVED, data=axis)


def untransposed_parts(between: str, into: str, parts: int) -> Fact:
    """Parts were merged into the last axis while another axis stood between them."""
    says = f"merged into {into} without a transpose"
    also = f"it has to bring the {parts} parts behind {between}"
    return Fact("merge-without-transpose", says, (also,), _VIEW, _MOVED, data=between)


def permutation(axis: str, order: tuple[int, ...]) -> Fact:
    """The right slices along an axis, in an order without a name."""
    listed = (f"the order is {list(order)}",) if len(order) <= _MOST_LISTED else ()
    says = f"the right numbers along {axis}, in another order"
    return Fact("permuted", says, listed, witnesses=_MOVED, data=axis)


def repeated_slice(axis: str, is_everywhere: bool, source: Literal["last"] | int | None, index: int, held: int) -> Fact:
    """A slice stands in place of all others, or of one; `source` is which, if it is the same in each trial."""
    place = f"every {one_of(axis)}" if is_everywhere else item(axis, index)
    asks = f"Is the same {one_of(axis)} read in every step, or one number used for all?"
    says = f"{place} holds what {item(axis, held)} should"
    return Fact("repeated", says, (), asks, _OF_ANOTHER, data=(axis, is_everywhere, source))


def named_order(order: Literal["flipped", "pairs", "halves", "apart", "together"], axis: str) -> Fact:
    """The slices along an axis stand in an order that has a name."""
    says, also, asks = {
        "flipped": (f"in reverse order along {axis}", (), "From which end do you count?"),
        "pairs": (
            f"each pair of neighbours along {axis} is exchanged",
            (),
            "Which of the two in each pair comes first?",
        ),
        "halves": (f"the two halves along {axis} are exchanged", (), "Which half comes first?"),
        "apart": (
            f"along {axis} the even places come first, then the odd ones",
            ("expected them in turn",),
            "Are two halves joined that should alternate?",
        ),
        "together": (
            f"along {axis} the two halves alternate",
            ("expected one after the other",),
            "Do two halves alternate that should be joined?",
        ),
    }[order]
    return Fact(order, says, also, asks, _MOVED)


def rotation(axis: str, steps: int) -> Fact:
    """The slices along an axis are moved by some places, and what leaves at one end comes in at the other."""
    says, also = f"rotated by {abs(steps)} along {axis}", ("what leaves at one end comes in at the other",)
    return Fact("rolled", says, also, "Where should the end go?", _MOVED, data=(axis, steps))


def shift(axis: str, steps: int, is_late: bool) -> Fact:
    """Right but for a move by a few places along an axis."""
    places = "one place" if steps == 1 else f"{steps} places"
    says = f"{places} too {'late' if is_late else 'early'} along {axis}; the values are right otherwise"
    asks = f"Do you count from 0 or from 1 along {axis}? What comes at its end?"
    return Fact("shifted", says, (), asks, _MOVED)


# Regions.

_WRONG = "where it is wrong"

Region = Literal[
    "only first",
    "only last",
    "only one",
    "right first",
    "right last",
    "right one",
    "odd",
    "even",
    "from",
    "up to",
    "some",
]


def wrong_indices(region: Region, axis: str, first: int, last: int, indices: tuple[int, ...] = ()) -> Fact:
    """Wrong at some indices of an axis, right at the others. `first` and `last` are the ends of the region."""
    says, asks = {
        "only first": (f"wrong only at the first {axis}", f"What is special about {axis} 0?"),
        "only last": (f"wrong only at the last {axis}", f"Does something end before the last {axis}?"),
        "only one": (f"wrong only at {axis} {first}", ""),
        "right first": (
            f"right only at the first {axis}",
            f"What do later ones depend on that {axis} 0 does not?",
        ),
        "right last": (
            f"right only at the last {axis}",
            f"What does the last {axis} have, or see, that the others lack?",
        ),
        "right one": (f"right only at {axis} {first}", ""),
        "odd": (f"wrong at every odd {axis}, right at the others", "How are the odd ones made?"),
        "even": (f"wrong at every even {axis}, right at the others", "How are the even ones made?"),
        "from": (
            f"right up to {axis} {first - 1}, wrong from {axis} {first} on",
            f"What changes at {axis} {first}?",
        ),
        "up to": (
            f"wrong up to {axis} {last}, right from {axis} {last + 1} on",
            f"What changes after {axis} {last}?",
        ),
        "some": (f"wrong only at {axis} {joined([str(index) for index in indices or (first,)])}", ""),
    }[region]
    return Fact("region", says, (), asks, _WRONG, data=(region, axis))


def wrong_index(axes: tuple[str, ...], where: Position) -> Fact:
    """Wrong at one index of several axes, and all over the others."""
    asks = "What is special about this one?"
    return Fact("region", f"wrong only at {position(where)}", (), asks, _WRONG, data=axes)


Side = Literal["on", "above", "below", "on and above", "on and below"]


def wrong_side(side: Side, rows: str, columns: str) -> Fact:
    """Wrong on one side of the diagonal of the last two axes."""
    asks = f"On which side is the {columns} after the {rows}?"
    return Fact("triangle", f"wrong only {side} the diagonal of {rows} × {columns}", (), asks, _WRONG, data=side)


def wrong_zeros(count: int, size: int) -> Fact:
    """Wrong only where 0 is expected."""
    says = f"wrong only where 0 is expected, at {count} of {size} such places"
    return Fact("zeros", says, (), "Why is 0 expected there?", _WRONG, data=())


Order = NDArray[np.intp]

_MOST_WORK = 4_000_000
"""Products for the distances between all slices along an axis: about 10 ms."""

_MOST_SHIFT = 3
_MOST_AXES = 5
"""The permutations of more axes take too long to try."""


def detect_rearrangement(case: Case) -> Iterator[Pattern]:
    """Yield how the expected numbers were moved."""
    # With two different numbers every order looks like another.
    if case.expected.size <= FEW or not case.finite or case.values < 3:
        return
    if case.same(np.sort(case.yours, axis=None), np.sort(case.expected, axis=None)):
        yield from _exchanged_axes(case)
        yield from _read_otherwise(case)
        yield from _permuted(case)
        if len(np.unique(case.expected)) > case.expected.size // 2:
            yield Pattern(REARRANGED)
    else:
        yield from _permuted(case)
    yield from _shifted(case)


def _exchanged_axes(case: Case) -> Iterator[Pattern]:
    """Yield axes of one size that are exchanged."""
    axes = range(case.expected.ndim)
    if not 2 <= len(axes) <= _MOST_AXES:
        return
    for one, other in combinations(axes, 2):
        if case.same(np.swapaxes(case.yours, one, other), case.expected):
            yield Pattern(swapped_axes(case.at(one), case.at(other)))
            return
    for order in permutations(axes):
        moved = case.yours.transpose(order)
        if case.same(moved, case.expected) and moved.shape == case.expected.shape:
            yield Pattern(reordered_axes(order))
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
            yield Pattern(wrong_view(*names, is_transposed=False))
            return
        if case.same(np.swapaxes(expected.reshape(back.shape), one, other), yours):
            yield Pattern(wrong_view(*names, is_transposed=True))
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
                yield Pattern(interleaved_axes(case.at(one), case.at(other)))
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
            yield Pattern(untransposed_parts(between, into, parts))
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
        order = near.argmax(axis=1)
        if fact is None and (near.sum(axis=1) == 1).all() and _tells(np.moveaxis(case.yours, axis, 0)[order != here]):
            fact = _of_order(order, word)
        if fact is not None:
            yield Pattern(fact)


def _tells(slices: Numbers) -> bool:
    """Whether slices are known by their numbers: one number everywhere comes of many mistakes."""
    return slices.ndim < 2 or bool(np.ptp(slices.reshape(len(slices), -1), axis=1).all())


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
        return permutation(word, tuple(int(at) for at in order))
    first = int(wrong[0])
    if len(held) == 1:
        [source] = held
        return repeated_slice(word, True, "last" if source == count - 1 else source, first, source)
    if len(wrong) * 2 > count or len(wrong) == 1:
        return repeated_slice(word, False, None, first, int(order[first]))
    return None


def _orders(count: int, word: str) -> Iterator[tuple[Order, Fact]]:
    """Yield the orders that have a name, each as the expected slice that stands in each place."""
    here = np.arange(count)
    yield here[::-1], named_order("flipped", word)
    if count % 2 == 0 and count > 2:
        yield here ^ 1, named_order("pairs", word)
        yield np.roll(here, count // 2), named_order("halves", word)
    # Nobody rolls by more than three places on purpose.
    for steps in (*range(1, 4), *range(-3, 0)):
        if count > 2 and abs(steps) < count:
            yield np.roll(here, steps), rotation(word, steps)
    # With fewer slices these orders are among those above.
    if count >= 5:
        apart = np.concatenate([here[0::2], here[1::2]])
        yield apart, named_order("apart", word)
        yield np.argsort(apart), named_order("together", word)
    for parts in (size for size in range(3, count // 2 + 1) if count % size == 0):
        yield here.reshape(parts, -1).T.reshape(-1), interleaved_parts(word, parts, count // parts)


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
                yield Pattern(shift(case.at(axis), step, is_late))
                return


def _alike(expected: Numbers, step: int) -> bool:
    """Whether an array moved by so many places is itself again, in its largest part."""
    one, other = expected[step:], expected[:-step]
    distance = float(np.linalg.norm(one - other))
    return distance < 100 * CLOSE * float(np.linalg.norm(expected))


# Detects a result that is wrong in one region only: some indices of an axis, or one side of the diagonal.

_MOST_INDICES = 5
"""Indices; a list of more is no region."""

_FULL, _SOME_BITS, _ENOUGH = 10.0, 5.0, 20.0
"""Bits of proof: of one right number, of an index that counts as right, and of a part that is right."""


def detect_regions(case: Case) -> Iterator[Pattern]:
    """Yield the parts that are wrong while the rest is right, the smallest part first."""
    wrong = case.wrong
    if case.expected.size <= FEW or not wrong.any() or wrong.all() or not np.isfinite(case.yours[wrong]).all():
        return
    found = [one for axis in range(wrong.ndim) if (one := _along(case, axis, wrong)) is not None]
    if case.nearly_right:
        yield from _zeros(case, wrong)
    yield from _corner(case, wrong)
    yield from _triangle(case, wrong)
    sample = _sample(wrong)
    ordered = sorted(found, key=lambda one: one[0])
    yield from (Pattern(fact, sample) for _, region, fact in ordered if region != "some")
    yield from _zeros(case, wrong)
    yield from (Pattern(fact, sample) for _, region, fact in ordered if region == "some")


def _corner(case: Case, wrong: Places) -> Iterator[Pattern]:
    """Yield one index of several axes, where all over the others is wrong."""
    index = [int(at) for at in np.argwhere(wrong)[0]]
    single = [at for at in range(wrong.ndim) if _is_single(case, at, wrong)]
    rest = [count for at, count in enumerate(wrong.shape) if at not in single]
    if len(single) < 2 or wrong.sum() * 2 <= np.prod(rest):
        return
    where = tuple((case.at(at), index[at]) for at in single)
    yield Pattern(wrong_index(tuple(case.at(at) for at in single), where), _sample(wrong))


def _bits(case: Case) -> Numbers:
    """Return how much each right place proves, in bits; one that is right in most programs proves nothing."""
    right = ~case.wrong
    # A guess among few values is right by chance, so a right place proves as many bits as it takes to choose.
    if case.is_integral or 1 < case.values < 5:
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


def _along(case: Case, axis: int, wrong: Places) -> tuple[float, Region, Fact] | None:
    """Return what is wrong along one axis, behind the share that is and the region; None where that has no name."""
    along = np.asarray(wrong.any(axis=others(wrong.ndim, axis))).reshape(-1)
    count, off = len(along), int(along.sum())
    if (
        # A half is no region.
        count < 3
        or off == count
        or not _known_right(case, axis, ~along)
        or not (is_named(case.at(axis)) or (wrong.ndim == 1 and not case.is_integral))
    ):
        return None
    where = [int(at) for at in np.flatnonzero(along)]
    region = _region(where, count)
    if region is None:
        return None
    word = case.at(axis) if is_named(case.at(axis)) else "index"
    first = int(np.flatnonzero(~along)[0]) if region == "right one" else where[0]
    indices = tuple(where) if region == "some" else ()
    return off / count, region, wrong_indices(region, word, first, where[-1], indices)


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
    return "some" if off * 2 <= count and off <= _MOST_INDICES else None


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
            yield Pattern(wrong_side(side, case.at(wrong.ndim - 2), case.at(wrong.ndim - 1)), _sample(wrong))
            return


def _zeros(case: Case, wrong: Places) -> Iterator[Pattern]:
    """Yield that only those places are wrong where 0 is expected."""
    zeros = case.expected == 0
    # Where nearly all is 0, wrong places are among the zeros by chance.
    if case.is_integral or not zeros.any() or zeros.mean() > 0.9 or (wrong & ~zeros).any():
        return
    if _bits(case)[~zeros].sum() < _ENOUGH:
        return
    yield Pattern(wrong_zeros(int(wrong.sum()), int(zeros.sum())), _sample(wrong))


# Detects a factor or an offset that differs from index to index of an axis, or from row to row.

_FEWEST_EACH = 4
"""The minimum of numbers that have to agree on each factor: fewer agree by chance."""


def detect_along(case: Case) -> Iterator[Pattern]:
    """Yield the factors, the offsets, or both, that belong to one axis, or to the rows along one."""
    # Few different numbers fit a factor for each index by chance.
    if case.is_integral or not case.finite or case.values < 8 or case.expected.ndim < 2:
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
    is_ratio = case.same(case.yours, ratios * case.expected) and (ratios != 0).all()
    if is_ratio and not _is_one_slice(case, case.expected, over):
        owner = None if is_row else _owner(case, ratios.reshape(-1))
        yield Pattern(rule_along("ratio", axis, is_row, float(ratios.min()), float(ratios.max()), owner))
        return
    shifts = (case.yours - case.expected).mean(axis=over, keepdims=True)
    spread = case.expected - case.expected.mean(axis=over, keepdims=True)
    if case.same(case.yours, case.expected + shifts) and not _is_one_slice(case, spread, over):
        owner = None if is_row else _owner(case, np.abs(shifts).reshape(-1))
        yield Pattern(rule_along("offset", axis, is_row, float(shifts.min()), float(shifts.max()), owner))
        return
    yield from _affine(case, over, axis, is_row=is_row)


def _varies(expected: Numbers, over: tuple[int, ...]) -> bool:
    """Whether the numbers that share a factor differ among themselves; otherwise any factor would fit."""
    spread, size = expected.std(axis=over), np.sqrt((expected**2).mean(axis=over))
    # A few constant rows, such as padding, are no reason to give up.
    return bool((spread > 1e-2 * size).mean() > 0.8)


def _is_one_slice(case: Case, expected: Numbers, over: tuple[int, ...]) -> bool:
    """Whether the slices are multiples of one of them: then whatever is mixed of them has a factor for each too."""
    kept = [at for at in range(expected.ndim) if at not in over]
    slices = expected.transpose(*kept, *over).reshape(math.prod(expected.shape[at] for at in kept), -1)
    largest = slices[(slices**2).sum(axis=1).argmax()]
    return case.same(np.outer(slices @ largest, largest), (largest @ largest) * slices)


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
    if _is_one_slice(case, spread, over):
        return
    yield Pattern(rule_along("affine", axis, is_row))


def _owner(case: Case, numbers: Numbers) -> str | None:
    """Return the name of a known part that has these numbers."""
    return next((name for name, part in case.known.items() if case.same(numbers, np.abs(part).reshape(-1))), None)
