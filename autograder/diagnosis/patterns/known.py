"""Detects another part of the same observation: yours equals it, lacks it, or has it added."""

from collections.abc import Iterator

import numpy as np

from autograder.diagnosis.patterns.case import FEW, Case
from autograder.diagnosis.patterns.pattern import Pattern
from autograder.messages.values import OtherPart


def detect(case: Case) -> Iterator[Pattern]:
    """Yield the named parts that yours equals, lacks, or has too much."""
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
            yield Pattern(OtherPart("equals", name))
        elif not case.is_whole:
            yield from _term(case, name)


def _term(case: Case, name: str) -> Iterator[Pattern]:
    part, missing = case.known[name], case.expected - case.yours
    if case.same(missing, part):
        yield Pattern(OtherPart("lacks-term", name))
    elif case.same(-missing, part):
        yield Pattern(OtherPart("extra-term", name))
