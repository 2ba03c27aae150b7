"""Compares the elements that a training run dropped with those that dropout drops."""

import numpy as np
from numpy.typing import NDArray

from autograder.comparison.arrays import Numbers
from autograder.messages import Fact
from autograder.messages.comparisons import NotFinite
from autograder.messages.dropout import DroppedTogether, KeptScaled, ShareDropped

CHANCE = 1e-6
"""The probability below which a result of dropout is called wrong, so that chance costs nobody points."""


def dropped_wrongly(train: Numbers, full: Numbers, rate: float) -> Fact | None:
    """Return what is wrong with `train` as `full` with a share of `rate` dropped and the rest scaled."""
    odd = ~np.isfinite(train)
    if odd.any():
        nan = np.isnan(train[odd])
        return NotFinite(int(odd.sum()), odd.size, bool(nan.any()), not nan.all())
    there = _comparable(full)
    count = max(int(there.sum()), 1)
    # Six standard errors of a share: a right program exceeds them once in 500 million runs.
    share, margin = float((train[there] == 0).sum()) / count, 6 * (rate * (1 - rate) / count) ** 0.5
    if abs(share - rate) > margin:
        return ShareDropped(share, rate)
    kept = there & (train != 0)
    ratio = train[kept] / full[kept]
    # More than rounding in float32, and less than a rate that is off by 0.01.
    if np.abs(ratio * (1 - rate) - 1).max(initial=0.0) > 1e-3:
        low, high = (float(np.quantile(ratio, share)) for share in (0.05, 0.95))  # without a few odd ones
        middle = float(np.median(ratio))
        return KeptScaled(middle, middle, rate) if high - low < 1e-3 * abs(high) else KeptScaled(low, high, rate)
    return DroppedTogether() if shared_axes(train, full, rate) else None


def shared_axes(train: Numbers, full: Numbers, rate: float) -> tuple[int, ...]:
    """Return the axes along which all or nothing was dropped, where that is not by chance."""
    there = _comparable(full)
    dropped, kept = there & (train == 0), there & (train != 0)
    if not dropped.any():
        return ()
    whole = (axis for axis in range(there.ndim) if not (dropped.any(axis) & kept.any(axis)).any())
    return tuple(axis for axis in whole if _by_chance(there.sum(axis), rate) < CHANCE)


def _by_chance(sizes: NDArray[np.int_], rate: float) -> float:
    """Return the probability that each group of these sizes is dropped whole or kept whole."""
    groups = sizes[sizes > 0]
    return float(np.prod(rate**groups + (1 - rate) ** groups))


def _comparable(full: Numbers) -> NDArray[np.bool_]:
    """Return where a number is so far from 0 that a 0 in its place comes from dropout."""
    # Train and eval may round differently; near 0 this decides the ratio of the two.
    size = np.abs(full)
    return size > float(1e-2 * size.max(initial=0.0))
