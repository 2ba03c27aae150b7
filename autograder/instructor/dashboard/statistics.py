"""How good a check is, in the terms of PrairieLearn: how hard, and whether it tells who does well from who does not.

What few students give is not told: a figure that another class would turn round is worse than none.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autograder.comparison.arrays import Numbers
from autograder.instructor.dashboard.clusters import is_unexplained
from autograder.instructor.dashboard.gathered import STOPPED, TRIED, WRONG, Class, Item, Key, checks_of
from autograder.results import Status

FEWEST = 20
"""Of fewer students, neither discrimination nor fifths are told."""

FIFTHS = 5
_Z = 1.959963984540054
"""The normal deviate of a 95 % interval."""


@dataclass(frozen=True)
class Share:
    """How many of how many."""

    count: int
    of: int

    @property
    def value(self) -> float | None:
        """The share, from 0 to 1; None of nobody."""
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of Wilson: where the share of many more such students may lie. None of nobody."""
        return wilson(self.count, self.of) if self.of else None


def wilson(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % score interval of `count` in `of`, which is above 0; it lies within 0 and 1."""
    share, square = count / of, _Z * _Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = _Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return (0.0 if count == 0 else low), (1.0 if count == of else high)


def passing(verdicts: Sequence[Status]) -> Share:
    """Return the share that passes, of all that could be graded."""
    return Share(verdicts.count("pass"), len(verdicts) - verdicts.count("grader_error"))


@dataclass(frozen=True)
class Figures:
    """What a class says of one check.

    `difficulty` is the mean score, of all with a score; `tried` the share that passes of who wrote it; `unexplained`
    the share of the failures that nothing is known of; `discrimination` the correlation of the score of the check with
    that of all others, from -1 to 1, and `fifths` the mean score in each fifth of the class, the weakest first.
    """

    item: Item
    difficulty: Share
    tried: Share
    unexplained: Share
    discrimination: float | None
    fifths: tuple[float, ...]
    stopped: int
    grader: int

    @property
    def remark(self) -> str:
        """What an author should look at, in words; nothing where nothing is striking."""
        said = []
        if self.grader:
            said.append("the grader failed")
        if self.difficulty.of >= FEWEST and self.difficulty.count == 0:
            said.append("nobody passes")
        if self.difficulty.of >= FEWEST and self.difficulty.count == self.difficulty.of:
            said.append("everybody passes")
        if self.discrimination is not None and self.discrimination < 0:
            said.append("who does well elsewhere fails it more")
        if self.unexplained.count >= 3 and self.unexplained.count * 2 > self.unexplained.of:
            said.append("most failures are unexplained")
        return "; ".join(said)


def figures(room: Class) -> tuple[Figures, ...]:
    """Return the figures of every check, in the order of the course."""
    unexplained: dict[Key, int] = {}
    for report in room.reports:
        for exercise, check in checks_of(report):
            if is_unexplained(check):
                unexplained[exercise.id, check.id] = unexplained.get((exercise.id, check.id), 0) + 1
    totals = np.array([room.reports[at].score for at in room.counted], dtype=np.float64)
    scores = _scores(room)
    return tuple(
        _figures(room, item, scores.get(item.key), totals, unexplained.get(item.key, 0)) for item in room.items
    )


def _figures(room: Class, item: Item, scores: Numbers | None, totals: Numbers, unexplained: int) -> Figures:
    verdicts = room.verdicts[item.key]
    counted = [verdicts[at] for at in room.counted]
    wrong = sum(verdict in WRONG for verdict in verdicts)
    right = np.array([verdict == "pass" for verdict in counted], dtype=np.float64)
    rest = totals - (scores if scores is not None else 0.0)
    enough = len(counted) >= FEWEST
    return Figures(
        item,
        Share(counted.count("pass"), len(counted)),
        Share(verdicts.count("pass"), sum(verdict in TRIED for verdict in verdicts)),
        Share(unexplained, wrong),
        correlation(right, rest) if enough else None,
        by_fifths(right, rest) if enough else (),
        sum(verdict in STOPPED for verdict in verdicts),
        verdicts.count("grader_error"),
    )


def _scores(room: Class) -> dict[Key, Numbers]:
    """Return what the counted students earned with each check, in hundredths."""
    earned: dict[Key, list[float]] = {item.key: [0.0] * len(room.counted) for item in room.items}
    for place, at in enumerate(room.counted):
        for exercise, check in checks_of(room.reports[at]):
            earned[exercise.id, check.id][place] = float(check.score)
    return {key: np.array(scores) for key, scores in earned.items()}


def correlation(one: Numbers, other: Numbers) -> float | None:
    """Return Pearson's correlation; None where one of the two does not vary."""
    if not one.size or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    a, b = one - one.mean(), other - other.mean()
    return float(np.clip(a @ b / math.sqrt(float(a @ a) * float(b @ b)), -1.0, 1.0))


def by_fifths(right: Numbers, rest: Numbers) -> tuple[float, ...]:
    """Return the mean of `right` in each fifth by `rest`, the lowest first."""
    ordered = right[np.argsort(rest, kind="stable")]
    return tuple(float(group.mean()) for group in np.array_split(ordered, FIFTHS))


def median(values: Sequence[int]) -> float:
    """Return the median, of at least one."""
    return float(np.median(values))
