"""Detects numbers that were dropped at random, and how the others were scaled."""

from collections.abc import Iterator

import numpy as np

from autograder.diagnosis.patterns.case import Case, Places, others
from autograder.diagnosis.patterns.pattern import Pattern, Sample
from autograder.messages.dropout import DropoutActive

_FEWEST = 20
"""The fewest elements whose dropped share is a good estimate of the rate."""


def detect(case: Case) -> Iterator[Pattern]:
    """Yield that some numbers are 0 at random, and the rest is the expected times one factor."""
    if case.is_whole or not case.finite or case.expected.size < _FEWEST:
        return
    # Smaller numbers may become 0 by rounding.
    there = np.abs(case.expected) > 1e-3 * np.abs(case.expected).max(initial=0.0)
    dropped = there & (case.yours == 0)
    if there.sum() < _FEWEST or dropped.sum() < 2:
        return
    rate = float(dropped.sum() / there.sum())
    kept = there & ~dropped
    # A few odd zeros, or a few numbers that are left, are no dropout.
    if not 0.02 < rate < 0.98 or kept.sum() < 8 or _is_regular(dropped, there):
        return
    ratio = case.yours[kept] / case.expected[kept]
    factor = float(np.median(ratio))
    # More than rounding in float32, and less than the factor of any usual rate.
    if np.abs(ratio - factor).max() > 1e-3 * abs(factor):
        return
    # Four standard errors of a share, so that chance hides dropout once in 16,000 times.
    margin = 4 * (rate * (1 - rate) / int(there.sum())) ** 0.5
    row = ("zeros", f"{(case.expected == 0).mean():.0%}", f"{(case.yours == 0).mean():.0%}")
    sample = Sample(dropped, row)
    if abs(factor - 1) < 1e-3:
        yield Pattern(DropoutActive(rate, factor, is_scaled=False), sample)
    elif factor > 1 and abs(1 - 1 / factor - rate) < margin:
        yield Pattern(DropoutActive(rate, factor, is_scaled=True), sample)


def _is_regular(dropped: Places, there: Places) -> bool:
    """Whether what is dropped has a form: the same in every slice along an axis, or a triangle."""
    for axis, count in enumerate(dropped.shape):
        if count < 2:
            continue
        some = dropped.any(axis=axis, keepdims=True)
        if bool((dropped == (some & there)).all()):
            return True
        whole = dropped.any(axis=others(dropped.ndim, axis))
        # Chance leaves an index without a zero if there are few numbers at each.
        if (dropped.size // count) > 4 and not whole.all():
            return True
    if dropped.ndim >= 2:
        rows, columns = np.indices(dropped.shape)[-2:]
        above, below = dropped & (columns > rows), dropped & (columns < rows)
        return not above.any() or not below.any()
    return False
