"""What a training run dropped, and whether it is what dropout drops."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from autograder.comparison.arrays import Numbers

CHANCE = 1e-6
"""Of what dropout may do by chance: it is called wrong only where it would do so less often."""


def dropped_wrongly(train: Numbers, full: Numbers, rate: float) -> tuple[Literal["special", "dropout"], str] | None:
    """Return what is wrong with `train` as `full` with a share of `rate` dropped and the rest scaled."""
    if not np.isfinite(train).all():
        return "special", "in train mode there are NaN or infinite numbers"
    there = _comparable(full)
    count = max(int(there.sum()), 1)
    share, margin = float((train[there] == 0).sum()) / count, 6 * (rate * (1 - rate) / count) ** 0.5
    if abs(share - rate) > margin:
        return "dropout", f"in train mode {share:.0%} of the elements are zero, expected about {rate:.0%}"
    kept = there & (train != 0)
    ratio = train[kept] / full[kept]
    if np.abs(ratio * (1 - rate) - 1).max(initial=0.0) > 1e-3:
        low, high = (float(np.quantile(ratio, each)) for each in (0.05, 0.95))
        factor = f"{np.median(ratio):.3g}" if high - low < 1e-3 * abs(high) else f"{low:.3g} to {high:.3g}"
        return "dropout", f"what is kept is {factor} × its value, expected 1 / (1 - {rate}) = {1 / (1 - rate):.3g} ×"
    if shared_axes(train, full, rate):
        return "dropout", "in train mode the same places are dropped all along an axis, expected others each time"
    return None


def shared_axes(train: Numbers, full: Numbers, rate: float) -> tuple[int, ...]:
    """Return the axes along which all or nothing was dropped, wherever chance is not to blame for it."""
    there = _comparable(full)
    dropped, kept = there & (train == 0), there & (train != 0)
    if not dropped.any():
        return ()
    whole = (axis for axis in range(there.ndim) if not (dropped.any(axis) & kept.any(axis)).any())
    return tuple(axis for axis in whole if _by_chance(there.sum(axis), rate) < CHANCE)


def _by_chance(sizes: NDArray[np.int_], rate: float) -> float:
    """Return how probable it is that of groups of such sizes each is dropped or kept whole."""
    groups = sizes[sizes > 0]
    return float(np.prod(rate**groups + (1 - rate) ** groups))


def _comparable(full: Numbers) -> NDArray[np.bool_]:
    """Return where a number is so far from 0 that a 0 in its place was put there."""
    size = np.abs(full)
    return size > float(1e-2 * size.max(initial=0.0))
