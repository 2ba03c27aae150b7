"""Two sets of places, and how the one is made of the other: inverted, turned, shifted, more or fewer."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from autograder.diagnosis.patterns.case import Case, Places, are_bits
from autograder.diagnosis.patterns.pattern import Pattern, Row, Shown

_FEWEST = 6


@dataclass(frozen=True)
class Relation:
    """How one set of places differs from another."""

    id: str
    phrase: str
    claim: str = ""
    detail: str = ""


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
    for relation in relations(yours, expected, case):
        places = case.wrong
        yield Pattern(
            f"mask-{relation.id}",
            relation.phrase,
            relation.claim,
            relation.detail,
            Shown("some of them", places, row),
        )


def relations(yours: Places, expected: Places, case: Case) -> Iterator[Relation]:
    """Yield how the places of yours come from the expected ones, the most telling first."""
    if np.array_equal(yours, ~expected):
        yield Relation(
            "inverted",
            "inverted: true and false are exchanged everywhere",
            "",
            "Which of the two means that it may be seen?",
        )
        return
    if yours.ndim >= 2:
        yield from _of_square(yours, expected, case)
    for axis in range(yours.ndim):
        word = case.at(axis)
        if yours.shape[axis] > 2 and np.array_equal(np.flip(yours, axis), expected):
            yield Relation("flipped", f"in reverse order along {word}", word)
    more, fewer = int((yours & ~expected).sum()), int((expected & ~yours).sum())
    if more and not fewer:
        question = "Which condition that should rule these out is missing, or joined by or instead of and?"
        yield Relation("more", _one_way(case, more, True), "", question)
    elif fewer and not more:
        yield Relation("fewer", _one_way(case, fewer, False), "", "Which condition rules these out that should not?")


def _one_way(case: Case, count: int, there: bool) -> str:
    places = f"{count} of {case.expected.size} places"
    if case.is_bool:
        return f"{places} {'is' if count == 1 else 'are'} {there} where {not there} is expected, the others are right"
    return f"{places} too {'many' if there else 'few'}, right at the others"


def _of_square(yours: Places, expected: Places, case: Case) -> Iterator[Relation]:
    """Relations of masks whose last two axes are alike, as those of a sequence to itself."""
    rows, columns = yours.shape[-2:]
    if rows != columns or rows < 3:
        return
    one, other = case.at(yours.ndim - 2), case.at(yours.ndim - 1)
    turned = np.swapaxes(yours, -1, -2)
    both = f"{one} {other}"
    if np.array_equal(turned, expected):
        question = f"Which index counts {one}, and which {other}? Lower and upper triangle are exchanged."
        yield Relation("transposed", f"right after swapping {one} and {other}", both, question)
        return
    if np.array_equal(~turned, expected):
        phrase = f"right after swapping {one} and {other} and exchanging true and false"
        yield Relation("transposed-inverted", phrase, both, "Is the diagonal on the side where it belongs?")
        return
    diagonal = np.eye(rows, dtype=bool)
    wrong = yours != expected
    if np.array_equal(~yours & ~diagonal, expected & ~diagonal) and np.array_equal(
        yours & diagonal, expected & diagonal
    ):
        yield Relation("inverted-off-diagonal", "inverted everywhere but on the diagonal", both)
        return
    for offset in (0, 1, -1):
        band = np.broadcast_to(np.eye(rows, k=offset, dtype=bool), wrong.shape)
        if wrong.any() and not (wrong & ~band).any() and wrong[band].mean() > 0.5:
            which = {0: "the diagonal", 1: "the diagonal above the main one", -1: "the diagonal below the main one"}[
                offset
            ]
            extra = "too much" if yours[wrong].all() else "missing"
            detail = f"May a {one} see itself, or the one after it? The argument diagonal of tril and triu decides."
            yield Relation("diagonal", f"right but for {which}, which is {extra}", f"{offset} {extra}", detail)
            return
