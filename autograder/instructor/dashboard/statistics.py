"""The quality of a check: difficulty and discrimination, in the terms of PrairieLearn, with confidence intervals."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autograder.comparison.arrays import Numbers
from autograder.instructor.dashboard.clusters import is_unexplained
from autograder.instructor.dashboard.cohort import STOPPED, TRIED, WRONG, Cohort, Item, Key, checks_of
from autograder.results import Status
from autograder.results.model import NOT_JUDGED

FEWEST = 20
"""Discrimination and quintiles need at least this many students: below, one student more or less can turn the sign."""

QUINTILES = 5
_Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution, for a two-sided 95 % interval."""


@dataclass(frozen=True)
class Share:
    """A proportion: `count` of `of`."""

    count: int
    of: int

    @property
    def value(self) -> float | None:
        """The share from 0 to 1; None if there are no students."""
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval by Wilson; None if there are no students."""
        return wilson(self.count, self.of) if self.of else None


def wilson(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of `count` in `of > 0`; it lies within 0 and 1."""
    share, square = count / of, _Z * _Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = _Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    # Rounding would leave the ends of 0 and of 1 a little inside the share.
    return (0.0 if count == 0 else low), (1.0 if count == of else high)


def passing(statuses: Sequence[Status]) -> Share:
    """Return the share that passes, of all that could be graded."""
    return Share(statuses.count("pass"), sum(status not in NOT_JUDGED for status in statuses))


@dataclass(frozen=True)
class CheckStatistics:
    """The statistics of one check in a class.

    `difficulty` is the mean score of all students with a score. `tried` is the share that passes among those whose code
    ran. `unexplained` is the share of failures without misconception or pattern. `discrimination` is the correlation
    of the check's score with the score of all other checks, from -1 to 1. `quintiles` are the mean scores in each fifth
    of the class, weakest first.
    """

    item: Item
    difficulty: Share
    tried: Share
    unexplained: Share
    discrimination: float | None
    quintiles: tuple[float, ...]
    stopped: int
    grader: int

    @property
    def remark(self) -> str:
        """What an author should look at; empty if nothing is unusual."""
        enough = self.difficulty.of >= FEWEST
        # One or two unexplained failures are chance; the author looks at three, if they are the larger part.
        mostly_unexplained = self.unexplained.count >= 3 and self.unexplained.count * 2 > self.unexplained.of
        remarks = {
            "the grader failed": self.grader > 0,
            "nobody passes": enough and self.difficulty.count == 0,
            "everybody passes": enough and self.difficulty.count == self.difficulty.of,
            "stronger students fail it more often": self.discrimination is not None and self.discrimination < 0,
            "most failures are unexplained": mostly_unexplained,
        }
        return "; ".join(remark for remark, holds in remarks.items() if holds)


def check_statistics(cohort: Cohort) -> tuple[CheckStatistics, ...]:
    """Return the statistics of every check, in course order."""
    checks = [(exercise.id, check) for report in cohort.reports for exercise, check in checks_of(report)]
    unexplained = Counter((exercise, check.id) for exercise, check in checks if is_unexplained(check))
    totals = np.array([cohort.reports[index].score for index in cohort.scored], dtype=np.float64)
    scores = _scores(cohort)
    return tuple(_figures(cohort, item, totals - scores[item.key], unexplained[item.key]) for item in cohort.items)


def _figures(cohort: Cohort, item: Item, rest: Numbers, unexplained: int) -> CheckStatistics:
    """Return the statistics of one check; `rest` has the scores of all other checks, by student."""
    statuses = cohort.verdicts[item.key]
    scored = [statuses[index] for index in cohort.scored]
    passed = np.array([status == "pass" for status in scored], dtype=np.float64)
    enough = len(scored) >= FEWEST
    return CheckStatistics(
        item,
        difficulty=Share(scored.count("pass"), len(scored)),
        tried=Share(statuses.count("pass"), sum(status in TRIED for status in statuses)),
        unexplained=Share(unexplained, sum(status in WRONG for status in statuses)),
        discrimination=correlation(passed, rest) if enough else None,
        quintiles=by_quintile(passed, rest) if enough else (),
        stopped=sum(status in STOPPED for status in statuses),
        grader=statuses.count("grader_error"),
    )


def _scores(cohort: Cohort) -> dict[Key, Numbers]:
    """Return the points that the students with a score earned in each check, in hundredths."""
    earned = {item.key: np.zeros(len(cohort.scored)) for item in cohort.items}
    for student, index in enumerate(cohort.scored):
        for exercise, check in checks_of(cohort.reports[index]):
            earned[exercise.id, check.id][student] = check.score
    return earned


def correlation(one: Numbers, other: Numbers) -> float | None:
    """Return Pearson's correlation; None if one of the two does not vary."""
    if not one.size or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    a, b = one - one.mean(), other - other.mean()
    return float(np.clip(a @ b / math.sqrt(float(a @ a) * float(b @ b)), -1.0, 1.0))


def by_quintile(passed: Numbers, rest: Numbers) -> tuple[float, ...]:
    """Return the mean of `passed` in each fifth of the students by `rest`, lowest first."""
    ordered = passed[np.argsort(rest, kind="stable")]
    return tuple(float(group.mean()) for group in np.array_split(ordered, QUINTILES))
