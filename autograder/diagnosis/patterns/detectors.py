"""All patterns in their order: exact before approximate, structure before statistics, regions before factors."""

from collections.abc import Iterator
from itertools import chain

from autograder.diagnosis.patterns import (
    along,
    dropout,
    dtype,
    elementwise,
    known,
    masks,
    precision,
    rearrangement,
    regions,
    scaled,
    shape,
    softmax_weights,
    special,
)
from autograder.diagnosis.patterns.case import LARGE, Case
from autograder.diagnosis.patterns.pattern import Pattern

_NEAR = (precision, regions)
_CHEAP = (special, scaled)
_ALL = (
    special,
    masks,
    known,
    scaled,
    elementwise,
    rearrangement,
    softmax_weights,
    dropout,
    precision,
    regions,
    along,
)


def recognise(case: Case) -> Iterator[Pattern]:
    """Yield every pattern that fits, the most telling first."""
    if case.yours.shape != case.expected.shape:
        yield from shape.detect(case)
        return
    if case.dtypes[0] != case.dtypes[1]:
        yield from dtype.detect(case)
        if case.dtypes[1] != "bool":
            return
    if not case.expected.size:
        return
    if case.values == 1:  # equal weights: the axis that they share says more than the one number that they are
        yield from softmax_weights.detect(case)
    for detector in _NEAR if case.nearly_right else _CHEAP if case.expected.size > LARGE else _ALL:
        yield from detector.detect(case)


def explain(first: Case, second: Case | None) -> Pattern | None:
    """Return the first pattern of a case that a second trial confirms, or that is sure by itself if there is none."""
    if second is None:
        return next((found for pattern in recognise(first) if (found := pattern.alone())), None)
    seen: list[Pattern] = []
    unseen = recognise(second)
    for pattern in recognise(first):
        if found := pattern.confirmed_by(chain(seen, _kept(unseen, seen))):
            return found
    return None


def _kept(patterns: Iterator[Pattern], seen: list[Pattern]) -> Iterator[Pattern]:
    """Yield patterns, and keep each of them, so that none is looked for twice."""
    for pattern in patterns:
        seen.append(pattern)
        yield pattern
