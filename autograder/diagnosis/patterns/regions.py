"""Wrong in one part only: at the first, the last, every other index of an axis, on one side of the diagonal."""

import math
from collections.abc import Iterator

import numpy as np

from autograder.comparison.arrays import Numbers
from autograder.diagnosis.patterns.axes import is_named
from autograder.diagnosis.patterns.case import FEW, Case, Places, joined, others
from autograder.diagnosis.patterns.pattern import Pattern, Shown

_SOME = "some"
_MOST_LISTED = 5

_FULL, _SOME_BITS, _ENOUGH = 10.0, 5.0, 20.0
"""Bits of proof: of one right number, of an index that counts as right, and of a part that is right."""


def detect(case: Case) -> Iterator[Pattern]:
    """Yield the parts that are wrong while the rest is right, the smallest part first."""
    wrong = case.wrong
    if case.expected.size <= FEW or not wrong.any() or wrong.all() or not np.isfinite(case.yours[wrong]).all():
        return
    found = [(share, pattern) for axis in range(wrong.ndim) for share, pattern in _along(case, axis, wrong)]
    if case.nearly_right:
        yield from _zeros(case, wrong)
    yield from _corner(case, wrong)
    yield from _triangle(case, wrong)
    ordered = [pattern for _, pattern in sorted(found, key=lambda each: each[0])]
    yield from (each for each in ordered if not each.claim.startswith(_SOME))
    yield from _zeros(case, wrong)
    yield from (each for each in ordered if each.claim.startswith(_SOME))


def _corner(case: Case, wrong: Places) -> Iterator[Pattern]:
    """Wrong at one index of several axes, and all over the others."""
    index = [int(each) for each in np.argwhere(wrong)[0]]
    single = [at for at in range(wrong.ndim) if _is_single(case, at, wrong)]
    rest = [count for at, count in enumerate(wrong.shape) if at not in single]
    if len(single) < 2 or wrong.sum() * 2 <= np.prod(rest):
        return
    where = joined([f"{case.at(at)} {index[at]}" for at in single])
    claim = joined([case.at(at) for at in single])
    question = "What is special about this one?"
    yield Pattern("region", f"wrong only at {where}", f"only {claim}", question, _shown(wrong))


def _bits(case: Case) -> Numbers:
    """Return how much each right place proves, in bits: what could hardly be wrong proves nothing."""
    right = ~case.wrong
    if case.is_whole or 1 < case.values < 5:
        return np.asarray(right * math.log2(max(case.values, 2)))
    if case.values == 1:
        return np.asarray(right * (_FULL if len(np.unique(case.yours)) > 4 else 1.0))
    given = np.isin(case.expected, (0, 1)) | ~np.isfinite(case.expected)
    return np.asarray((right & ~given) * _FULL)


def _known_right(case: Case, axis: int, right: Places) -> bool:
    """Whether what is right along an axis is so by more than chance, in half of its indices at least."""
    bits = np.asarray(_bits(case).sum(axis=others(case.expected.ndim, axis))).reshape(-1)[right]
    return bool(bits.sum() >= _ENOUGH and (bits >= _SOME_BITS).sum() * 2 >= len(bits))


def _shown(wrong: Places) -> Shown:
    return Shown(
        "where it is wrong", wrong, ("right", f"{wrong.size} of {wrong.size}", f"{int((~wrong).sum())} of {wrong.size}")
    )


def _is_single(case: Case, axis: int, wrong: Places) -> bool:
    along = np.asarray(wrong.any(axis=others(wrong.ndim, axis))).reshape(-1)
    return is_named(case.at(axis)) and len(along) >= 2 and int(along.sum()) == 1


def _along(case: Case, axis: int, wrong: Places) -> Iterator[tuple[float, Pattern]]:
    """Yield what is wrong along one axis, with the share of it that is."""
    along = np.asarray(wrong.any(axis=others(wrong.ndim, axis))).reshape(-1)
    count, off = len(along), int(along.sum())
    if (
        count < 3
        or off == count
        or not _known_right(case, axis, ~along)
        or not (is_named(case.at(axis)) or (wrong.ndim == 1 and not case.is_whole))
    ):
        return
    word = case.at(axis) if is_named(case.at(axis)) else "index"
    for kind, phrase, question in _kinds(np.flatnonzero(along), count, word):
        yield off / count, Pattern("region", phrase, f"{kind} {word}", question, _shown(wrong))


def _kinds(where: np.ndarray, count: int, word: str) -> Iterator[tuple[str, str, str]]:
    """Yield `(kind, phrase, question)` for the indices that are wrong along an axis."""
    off, first, last = len(where), int(where[0]), int(where[-1])
    together = last - first + 1 == off
    if off == 1 and first == 0:
        yield "only first", f"wrong only at the first {word}", f"What is special about {word} 0?"
    elif off == 1 and last == count - 1:
        yield "only last", f"wrong only at the last {word}", f"Does something end before the last {word}?"
    elif off == 1:
        yield "only one", f"wrong only at {word} {first}", ""
    elif off == count - 1 and together and first == 1:
        yield (
            "right first",
            f"right only at the first {word}",
            f"What reaches the later ones that {word} 0 does without?",
        )
    elif off == count - 1 and together and first == 0:
        question = f"What does the last {word} have, or see, that the others lack?"
        yield "right last", f"right only at the last {word}", question
    elif off == count - 1:
        right = next(each for each in range(count) if each not in where)
        yield "right one", f"right only at {word} {right}", ""
    elif count >= 4 and np.array_equal(where, np.arange(first, count, 2)) and first < 2:
        which = "odd" if first else "even"
        yield which, f"wrong at every {which} {word}, right at the others", f"How are the {which} ones made?"
    elif together and last == count - 1:
        yield (
            "from",
            f"right up to {word} {first - 1}, wrong from {word} {first} on",
            f"What changes at {word} {first}?",
        )
    elif together and first == 0:
        yield (
            "up to",
            f"wrong up to {word} {last}, right from {word} {last + 1} on",
            f"What changes after {word} {last}?",
        )
    elif off * 2 <= count and off <= _MOST_LISTED:
        yield _SOME, f"wrong only at {word} {joined([str(each) for each in where])}", ""


def _triangle(case: Case, wrong: Places) -> Iterator[Pattern]:
    """Wrong on one side of the diagonal of the last two axes, and all over that side."""
    if wrong.ndim < 2 or wrong.shape[-1] != wrong.shape[-2] or wrong.shape[-1] < 3:
        return
    rows, columns = np.indices(wrong.shape)[-2:]
    sides = {
        "on the diagonal": rows == columns,
        "above the diagonal": columns > rows,
        "below the diagonal": columns < rows,
        "on and above the diagonal": columns >= rows,
        "on and below the diagonal": columns <= rows,
    }
    for side, places in sides.items():
        if not (wrong & ~places).any() and wrong[places].mean() > 0.9 and _bits(case)[~places].sum() > _ENOUGH:
            one, other = case.at(wrong.ndim - 2), case.at(wrong.ndim - 1)
            phrase = f"wrong only {side} of {one} × {other}"
            yield Pattern("triangle", phrase, side, f"On which side is the {other} after the {one}?", _shown(wrong))
            return


def _zeros(case: Case, wrong: Places) -> Iterator[Pattern]:
    """Wrong only where 0 is expected."""
    zeros = case.expected == 0
    if case.is_whole or not zeros.any() or zeros.mean() > 0.9 or (wrong & ~zeros).any():
        return
    if _bits(case)[~zeros].sum() < _ENOUGH:
        return
    phrase = f"wrong only where 0 is expected, at {wrong.sum()} of {zeros.sum()} such places"
    yield Pattern(
        "zeros", phrase, detail="What should be 0 there: is it blocked, padded or dropped?", shown=_shown(wrong)
    )
