"""The 5-gram model to compare with: interpolated modified Kneser-Ney smoothing over characters.

Chen and Goodman 1998, "An Empirical Study of Smoothing Techniques for Language Modeling", section 3. The counts after
the last four characters are discounted. The discounted mass goes to a model of the last three, and so on down to the
uniform distribution. Each order has three discounts, from how many counts are 1, 2, 3 and 4. The lower orders count in
how many contexts a character occurs, not how often. One factor for all discounts is chosen on a part of the training
text.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]

ORDER = 5

MOST = int(np.iinfo(np.int64).max ** (1 / ORDER))
"""The largest alphabet whose n-grams each fit into one 64-bit number."""

SHARES = (0.3, 0.5, 0.7, 0.85, 1.0)
"""The factors of the discounts to choose from."""


class NGramModel:
    """An n-gram model of ids below `letters`, trained on one sequence; `share` multiplies its discounts.

    Raises ValueError if there are too many letters.
    """

    def __init__(self, ids: Sequence[int] | Ids, letters: int, *, order: int = ORDER, share: float = 1.0) -> None:
        if letters**order > np.iinfo(np.int64).max:
            raise ValueError(f"{letters} different characters are too many for an n-gram model of order {order}")
        self.letters, self.order, self.share = letters, order, share
        self._levels: list[_Level] = []
        grams, counts = np.unique(codes(np.asarray(ids, np.int64), order, letters), return_counts=True)
        for length in range(order, 0, -1):
            self._levels.append(_Level(grams, counts, letters, share))
            grams, counts = np.unique(grams % letters ** (length - 1), return_counts=True)
        self._levels.reverse()

    def probabilities(self, ids: Sequence[int] | Ids) -> NDArray[np.float64]:
        """Return the probability of each id except the first `order - 1`, which are context only."""
        known = np.asarray(ids, np.int64)
        chance = np.full(max(len(known) - self.order + 1, 0), 1 / self.letters)
        for length, level in enumerate(self._levels, 1):
            chance = level.mixed(codes(known[self.order - length :], length, self.letters), chance)
        return chance

    def nats(self, ids: Sequence[int] | Ids) -> float:
        """Return the mean of -ln p over the ids except the first `order - 1`."""
        return float(-np.log(self.probabilities(ids)).mean())


def fitted(ids: Sequence[int], letters: int) -> NGramModel:
    """Return the model of all ids, with the share that is best on their last tenth when trained on the others."""
    known = np.asarray(ids, np.int64)
    cut = len(known) * 9 // 10
    best = min(SHARES, key=lambda share: NGramModel(known[:cut], letters, share=share).nats(known[cut - ORDER + 1 :]))
    return NGramModel(known, letters, share=best)


class _Level:
    """The counts of one n-gram length: what follows each context, and the mass that is left for shorter ones."""

    def __init__(self, grams: Ids, counts: Ids, letters: int, share: float) -> None:
        self._grams, self._counts, self._letters = grams, counts, letters
        self._less = share * discounts(counts)
        self._contexts, starts = np.unique(grams // letters, return_index=True)
        self._sums = np.add.reduceat(counts, starts).astype(np.float64)
        self._left = np.add.reduceat(self._less[np.minimum(counts, 3)], starts) / self._sums

    def mixed(self, grams: Ids, shorter: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of the last id of each gram; `shorter` has that for one id less of context."""
        at, there = lookup(self._contexts, grams // self._letters)
        gram, seen = lookup(self._grams, grams)
        counts = np.where(seen, self._counts[gram], 0)
        own = (counts - self._less[np.minimum(counts, 3)]) / self._sums[at]
        return np.where(there, own + self._left[at] * shorter, shorter)


def codes(ids: Ids, length: int, letters: int) -> Ids:
    """Return a number for each run of `length` ids: its digits are the ids."""
    many = max(len(ids) - length + 1, 0)
    code = np.zeros(many, dtype=np.int64)
    for place in range(length):
        code = code * letters + ids[place : place + many]
    return code


def lookup(table: Ids, wanted: Ids) -> tuple[Ids, NDArray[np.bool_]]:
    """Return the index of each number in a sorted table, and whether it is there."""
    at = np.minimum(np.searchsorted(table, wanted), len(table) - 1)
    return at, table[at] == wanted


def discounts(counts: Ids) -> NDArray[np.float64]:
    """Return the discounts of counts of 0, 1, 2, and 3 or more (Chen and Goodman 1998, equation 17).

    They are one half if there are too few counts to estimate them.
    """
    often = [int((counts == number).sum()) for number in range(1, 5)]
    if not all(often):
        return np.array([0.0, 0.5, 0.5, 0.5])
    share = often[0] / (often[0] + 2 * often[1])
    estimates = [count - (count + 1) * share * often[count] / often[count - 1] for count in (1, 2, 3)]
    return np.array([0.0, *(min(max(less, 0.1), count) for count, less in enumerate(estimates, 1))])


def bits(nats: float) -> float:
    """Return nats as bits."""
    return nats / math.log(2)
