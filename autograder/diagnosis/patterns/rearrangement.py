"""The right numbers in other places: turned, reversed, shifted, permuted, repeated, or read in another order."""

from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from autograder.comparison.arrays import Numbers
from autograder.diagnosis.patterns.axes import item, one_of
from autograder.diagnosis.patterns.case import CLOSE, FEW, Case, Places
from autograder.diagnosis.patterns.pattern import Pattern, Shown

Order = NDArray[np.intp]

_MOST_WORK = 4_000_000
_MOST_SHIFT = 3
_MOST_AXES = 5
_SHOWN = Shown("the right numbers, elsewhere")


def detect(case: Case) -> Iterator[Pattern]:
    """Yield how the expected numbers were moved."""
    if case.expected.size <= FEW or not case.finite or case.values < 3:
        return
    if _same_numbers(case):
        yield from _turned(case)
        yield from _read_otherwise(case)
        yield from _permuted(case)
        if len(np.unique(case.expected)) > case.expected.size // 2:
            yield Pattern("rearranged", "the right numbers, in other places", shown=_SHOWN)
    else:
        yield from _permuted(case)
    yield from _shifted(case)


def _same_numbers(case: Case) -> bool:
    return case.same(np.sort(case.yours, axis=None), np.sort(case.expected, axis=None))


def _turned(case: Case) -> Iterator[Pattern]:
    """Axes of one size that are exchanged."""
    axes = range(case.expected.ndim)
    if not 2 <= len(axes) <= _MOST_AXES:
        return
    for one, other in combinations(axes, 2):
        if case.same(np.swapaxes(case.yours, one, other), case.expected):
            names = f"{case.at(one)} and {case.at(other)}"
            question = "Which of the two does a row stand for, and which a column?"
            yield Pattern("transposed", f"right after swapping {names}", names, question, _SHOWN)
            return
    for order in permutations(axes):
        moved = case.yours.transpose(order)
        if case.same(moved, case.expected) and moved.shape == case.expected.shape:
            yield Pattern("transposed", f"right after its axes are put in the order {order}", str(order), "", _SHOWN)
            return


def _read_otherwise(case: Case) -> Iterator[Pattern]:
    """What a view does where a transpose is needed, and the other way round."""
    expected, yours = case.expected, case.yours
    question = "view and reshape keep the order of the numbers in memory; only transpose and permute exchange axes."
    for one, other in combinations(range(expected.ndim), 2):
        if 1 in (expected.shape[one], expected.shape[other]):
            continue
        names = f"{case.at(one)} and {case.at(other)}"
        if case.same(np.swapaxes(expected, one, other).reshape(expected.shape), yours):
            phrase = f"{names} are exchanged by a view; that needs a transpose"
            yield Pattern("view-for-transpose", phrase, names, question, _SHOWN)
            return
        back = np.swapaxes(expected, one, other)
        if case.same(np.swapaxes(expected.reshape(back.shape), one, other), yours):
            phrase = f"{names} are exchanged by a transpose after which a view reads them wrongly"
            yield Pattern("transpose-then-view", phrase, names, question, _SHOWN)
            return
    yield from _interleaved_pair(case)
    yield from _merged(case, question)


def _interleaved_pair(case: Case) -> Iterator[Pattern]:
    """Two axes that one axis was split into, the faster one first."""
    for one, other in combinations(range(case.expected.ndim), 2):
        first, second = case.expected.shape[one], case.expected.shape[other]
        if 1 in (first, second):
            continue
        last = np.moveaxis(case.expected, (one, other), (-2, -1))
        flat = last.reshape(*last.shape[:-2], second, first)
        for split in (np.swapaxes(flat, -1, -2), np.swapaxes(last, -1, -2).reshape(last.shape)):
            if case.same(np.moveaxis(split, (-2, -1), (one, other)), case.yours):
                names = f"{case.at(one)} and {case.at(other)}"
                question = f"Which of {names} varies slower in what was split? It has to come first in the view."
                yield Pattern(
                    "split-otherwise", f"{names} are interleaved: split in the other order", names, question, _SHOWN
                )
                return


def _merged(case: Case, question: str) -> Iterator[Pattern]:
    """Two axes merged into the last one while another stood between them."""
    if case.expected.ndim < 2:
        return
    *leading, rows, width = case.expected.shape
    if rows == 1:
        return
    for parts in (each for each in range(2, width // 2 + 1) if width % each == 0):
        whole = np.swapaxes(case.expected.reshape(*leading, rows, parts, width // parts), -2, -3)
        if case.same(whole.reshape(case.expected.shape), case.yours):
            between, into = case.at(len(leading)), case.at(len(leading) + 1)
            phrase = f"merged into {into} without the transpose that brings the {parts} parts behind {between}"
            yield Pattern("merge-without-transpose", phrase, between, question, _SHOWN)
            return


def _permuted(case: Case) -> Iterator[Pattern]:
    """Slices along one axis in another order, or some of them in place of others."""
    for axis in range(case.expected.ndim):
        near = _near(case, axis)
        if near is None or not near.any(axis=1).all() or np.diagonal(near).all():
            continue
        word, here = case.at(axis), np.arange(len(near))
        known = (pattern for order, pattern in _orders(len(near), word) if near[here, order].all())
        if pattern := next(known, None):
            yield pattern
        elif (near.sum(axis=1) == 1).all():
            yield from _of_order(near.argmax(axis=1), word)


def _near(case: Case, axis: int) -> Places | None:
    """Return which of your slices equals which of the expected ones; None where that is not worth the work."""
    count = case.expected.shape[axis]
    if count < 2 or count * case.expected.size > _MOST_WORK:
        return None
    yours = np.moveaxis(case.yours, axis, 0).reshape(count, -1)
    expected = np.moveaxis(case.expected, axis, 0).reshape(count, -1)
    if expected.shape[1] == 1 and count < 5:
        return None
    scale = max(float(np.linalg.norm(expected)) / count**0.5, 1e-30)
    return np.asarray(_distances(yours, expected) <= 3 * case.tau * scale, dtype=np.bool_)


def _distances(one: Numbers, other: Numbers) -> Numbers:
    squares = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1)[None, :] - 2 * one @ other.T
    return np.asarray(np.sqrt(np.maximum(squares, 0)), dtype=np.float64)


def _of_order(order: Order, word: str) -> Iterator[Pattern]:
    """Name an order that is no known one: a permutation, or slices that stand in for others."""
    count = len(order)
    wrong = np.flatnonzero(order != np.arange(count))
    if len(set(order.tolist())) == count:
        listed = f": {order.tolist()}" if count <= 8 else ""
        yield Pattern("permuted", f"the right numbers along {word}, in another order{listed}", word, "", _SHOWN)
        return
    question = f"Is the same {one_of(word)} read in every step, or one number used for all?"
    if len(set(order.tolist())) == 1:
        phrase = f"every {one_of(word)} holds what {item(word, int(order[0]))} should"
        claim = f"{word} {'last' if order[0] == count - 1 else order[0]}"
        yield Pattern("repeated", phrase, claim, question, _SHOWN)
    elif len(wrong) * 2 > count or len(wrong) == 1:
        phrase = f"{item(word, int(wrong[0]))} holds what {item(word, int(order[wrong[0]]))} should"
        yield Pattern("repeated", phrase, f"some {word}", question, _SHOWN)


def _orders(count: int, word: str) -> Iterator[tuple[Order, Pattern]]:
    """Yield the orders that have a name, each as the expected slice that stands in each place."""
    here = np.arange(count)

    def named(order: Order, kind: str, phrase: str, question: str, claim: str = word) -> tuple[Order, Pattern]:
        return order, Pattern(kind, phrase, claim, question, _SHOWN)

    yield named(here[::-1], "flipped", f"in reverse order along {word}", "From which end is it counted?")
    if count % 2 == 0 and count > 2:
        phrase = f"each pair of neighbours along {word} is exchanged"
        yield named(here ^ 1, "pairs", phrase, "Which of the two in each pair comes first?")
        phrase = f"the two halves along {word} are exchanged"
        yield named(np.roll(here, count // 2), "halves", phrase, "Which half comes first?")
    for step in (*range(1, 4), *range(-3, 0)):
        if count > 2 and abs(step) < count:
            phrase = f"rotated by {abs(step)} along {word}: what leaves at one end comes in at the other"
            yield named(np.roll(here, step), "rolled", phrase, "Where should the end go?", f"{step} {word}")
    if count >= 5:
        apart = np.concatenate([here[0::2], here[1::2]])
        phrase = f"along {word} the even places come first, then the odd ones; expected them in turn"
        yield named(apart, "apart", phrase, "Are two halves joined that should alternate?")
        phrase = f"along {word} the two halves alternate; expected one after the other"
        yield named(np.argsort(apart), "together", phrase, "Do two halves alternate that should be joined?")
    for parts in (each for each in range(3, count // 2 + 1) if count % each == 0):
        other = count // parts
        phrase = f"{word} is interleaved: split into {other} × {parts} where {parts} × {other} is expected"
        order = here.reshape(parts, -1).T.reshape(-1)
        yield named(order, "split-otherwise", phrase, "Which part varies slower? It comes first in the view.")


def _shifted(case: Case) -> Iterator[Pattern]:
    """Right after moving along one axis, but for the ends; a thing that looks like itself there is no proof."""
    for axis in range(case.expected.ndim):
        count = case.expected.shape[axis]
        yours, expected = np.moveaxis(case.yours, axis, 0), np.moveaxis(case.expected, axis, 0)
        for step in range(1, min(_MOST_SHIFT, (count - 1) // 2) + 1):
            for sign, mine, theirs in (
                ("later", yours[step:], expected[:-step]),
                ("earlier", yours[:-step], expected[step:]),
            ):
                if theirs.size < 4 or not case.same(mine, theirs) or _alike(expected, step):
                    continue
                word = case.at(axis)
                phrase = f"{_times(step)} too {'late' if sign == 'later' else 'early'} along {word}; right but for that"
                question = f"Does the first {word} have the number 0 or 1, and where does the last one go?"
                yield Pattern("shifted", phrase, f"{sign} {step} {word}", question, _SHOWN)
                return


def _times(step: int) -> str:
    return "one place" if step == 1 else f"{step} places"


def _alike(expected: Numbers, step: int) -> bool:
    """Whether something moved by so much is itself again, in its largest part."""
    one, other = expected[step:], expected[:-step]
    distance = float(np.linalg.norm(one - other))
    return distance < 100 * CLOSE * float(np.linalg.norm(expected))
