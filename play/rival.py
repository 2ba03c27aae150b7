"""The 5-gram model that `write` has to beat: interpolated modified Kneser-Ney over characters.

Chen and Goodman 1998, "An Empirical Study of Smoothing Techniques for Language Modeling", section 3: what was seen
after the last four characters, each count less a discount, and what the discounts leave goes to a model of the last
three, and so on down to one that gives every character the same chance. Three discounts an order, from how many counts
are 1, 2, 3 and 4. The shorter orders count in how many contexts a character was seen, not how often. One factor for all
discounts is chosen on a part of the text that is learnt from.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]

ORDER = 5

MOST = int(np.iinfo(np.int64).max ** (1 / ORDER))
"""So many letters can be told apart in runs of that order, each of which is one number."""

SHARES = (0.3, 0.5, 0.7, 0.85, 1.0)
"""What the discounts are multiplied by is chosen from these."""


class Rival:
    """An n-gram model of ids below `letters`, learnt from one row of them; its discounts are multiplied by `share`.

    Raises ValueError where there are too many letters for its codes to fit.
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
        """Return the probability of each id but the first `order - 1`, which are only looked back at."""
        known = np.asarray(ids, np.int64)
        chance = np.full(max(len(known) - self.order + 1, 0), 1 / self.letters)
        for length, level in enumerate(self._levels, 1):
            chance = level.mixed(codes(known[self.order - length :], length, self.letters), chance)
        return chance

    def nats(self, ids: Sequence[int] | Ids) -> float:
        """Return the mean of -ln p over the ids but the first `order - 1`."""
        return float(-np.log(self.probabilities(ids)).mean())


def fitted(ids: Sequence[int], letters: int) -> Rival:
    """Return the model of all ids, with the share that is best at their last tenth when it learnt from the others."""
    known = np.asarray(ids, np.int64)
    cut = len(known) * 9 // 10
    best = min(SHARES, key=lambda share: Rival(known[:cut], letters, share=share).nats(known[cut - ORDER + 1 :]))
    return Rival(known, letters, share=best)


class _Level:
    """The counts of one length: what follows a context, and what is left over for shorter ones."""

    def __init__(self, grams: Ids, counts: Ids, letters: int, share: float) -> None:
        self._grams, self._counts, self._letters = grams, counts, letters
        self._less = share * discounts(counts)
        self._contexts, starts = np.unique(grams // letters, return_index=True)
        self._sums = np.add.reduceat(counts, starts).astype(np.float64)
        self._left = np.add.reduceat(self._less[np.minimum(counts, 3)], starts) / self._sums

    def mixed(self, grams: Ids, shorter: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the chance of the last id of each gram, `shorter` being that of one id less to look back at."""
        at, there = found(self._contexts, grams // self._letters)
        gram, seen = found(self._grams, grams)
        counts = np.where(seen, self._counts[gram], 0)
        own = (counts - self._less[np.minimum(counts, 3)]) / self._sums[at]
        return np.where(there, own + self._left[at] * shorter, shorter)


def codes(ids: Ids, length: int, letters: int) -> Ids:
    """Return a number for every run of so many ids: its digits are the ids."""
    many = max(len(ids) - length + 1, 0)
    code = np.zeros(many, dtype=np.int64)
    for place in range(length):
        code = code * letters + ids[place : place + many]
    return code


def found(table: Ids, wanted: Ids) -> tuple[Ids, NDArray[np.bool_]]:
    """Return where in a sorted table each number is, and whether it is there at all."""
    at = np.minimum(np.searchsorted(table, wanted), len(table) - 1)
    return at, table[at] == wanted


def discounts(counts: Ids) -> NDArray[np.float64]:
    """Return what is taken from a count of 0, 1, 2, and 3 or more (Chen and Goodman 1998, equation 17).

    Where the counts of counts do not tell, it is one half.
    """
    often = [int((counts == each).sum()) for each in range(1, 5)]
    if not all(often):
        return np.array([0.0, 0.5, 0.5, 0.5])
    share = often[0] / (often[0] + 2 * often[1])
    taken = [each - (each + 1) * share * often[each] / often[each - 1] for each in (1, 2, 3)]
    return np.array([0.0, *(min(max(less, 0.1), each) for each, less in enumerate(taken, 1))])


def bits(nats: float) -> float:
    """Return nats as bits."""
    return nats / math.log(2)
