"""Yours equals, or lacks, another part of the same observation, or part of it is a stranger's."""

from collections.abc import Iterator

import numpy as np

from autograder.diagnosis.patterns.case import FEW, Case
from autograder.diagnosis.patterns.pattern import Pattern, Shown


def detect(case: Case) -> Iterator[Pattern]:
    """Yield the named parts that yours is, or that are missing from it or too much in it."""
    if case.expected.size <= FEW or not case.finite or case.is_bool:
        return
    for name, part in case.known.items():
        if (
            part.shape != case.expected.shape
            or not np.isfinite(part).all()
            or part.min(initial=0) == part.max(initial=0)
        ):
            continue
        if case.same(case.yours, part) and not case.same(part, case.expected):
            phrase = f"exactly what {name} should be"
            yield Pattern("equals", phrase, name, "Are two results exchanged, or is a last step missing?")
        elif not case.is_whole:
            yield from _term(case, name)


def _term(case: Case, name: str) -> Iterator[Pattern]:
    part, missing = case.known[name], case.expected - case.yours
    shown = Shown(f"expected - yours is {name}")
    if case.same(missing, part):
        phrase = f"the expected without {name}, which is not added"
        yield Pattern("lacks-term", phrase, name, f"Where should {name} be added?", shown)
    elif case.same(-missing, part):
        yield Pattern("extra-term", f"the expected plus {name}", name, f"Where is {name} added?", shown)
