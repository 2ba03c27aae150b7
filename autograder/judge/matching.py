"""Matches a submission with the misconceptions: it is named only if it gives what a known wrong program gives."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from autograder.answer_key.model import AnswerKey, Misconception
from autograder.checks import Check, Dropout, Like, Raises, Same
from autograder.checks.trials import Key
from autograder.comparison.arrays import Numbers, is_floating, numbers, wrong
from autograder.comparison.compare import Expected, compare, judge_observation
from autograder.comparison.dropout import shared_axes
from autograder.judge.todos import is_nothing
from autograder.protocol import Array, Value
from autograder.runner.outcomes import Fault, Observed, Outcome

SAME_SHARE = 0.04
"""Two programs that drop at random do the same if shares and quantiles differ by less: more than chance makes them."""

RICH = 8
"""The minimum of wrong values that counts as a match: fewer may equal those of a misconception by chance."""


@dataclass(frozen=True)
class Agreement:
    """How far a misconception explains a submission: the checks it fails in the same way, and whether all agree.

    `more` says that a check fails which the misconception alone passes.
    """

    entry: Misconception
    checks: frozenset[str]
    full: bool
    more: bool


@dataclass(frozen=True)
class Match:
    """The misconception behind a failed check. With `is_all` it alone gives what was observed in it.

    `more` says that it cannot be the only mistake.
    """

    entry: Misconception
    is_all: bool
    more: bool


def agreements(
    outcomes: Mapping[Key, Outcome], failing: Collection[Key], key: AnswerKey, checks: Mapping[str, Check]
) -> list[Agreement]:
    """Hold a submission's outcomes in an exercise, and which of them are wrong, against every misconception."""
    return [_agreement(entry, outcomes, failing, key, checks) for entry in key.misconceptions] if failing else []


def _agreement(
    entry: Misconception,
    outcomes: Mapping[Key, Outcome],
    failing: Collection[Key],
    key: AnswerKey,
    checks: Mapping[str, Check],
) -> Agreement:
    theirs = entry.outcomes
    different = {at[0] for at in outcomes if (at in theirs) != (at in failing)}
    for at, yours in outcomes.items():
        if at in theirs and at[0] not in different:
            check = checks[at[0]]
            if not same_outcome(yours, theirs[at], check, key.reference[at]):
                different.add(at[0])
    more = bool({at[0] for at in failing if not is_nothing(outcomes[at])} - {at[0] for at in theirs})
    return Agreement(entry, frozenset({at[0] for at in failing} - different), not different, more)


def name(
    check: Check,
    outcomes: Mapping[Key, Outcome],
    key: AnswerKey,
    found: list[Agreement],
    statements: Collection[str] = (),
) -> Match | None:
    """Return the misconception behind a failed check, or None where there is doubt.

    The same exception may have many causes. So where a misconception explains an exception and not everything else,
    it has to be in the file: `statements` are the hashes of the student's.
    """
    candidates = [agreement for agreement in found if check.id in agreement.checks]
    full = [agreement for agreement in candidates if agreement.full]
    is_rich = _is_rich(check, outcomes, key)
    if full:
        best = full
    elif is_rich:
        most = max((len(agreement.checks) for agreement in candidates), default=0)
        best = [agreement for agreement in candidates if len(agreement.checks) == most]
    elif any(isinstance(outcomes[check.id, trial], Fault) for trial in range(check.trials)):
        best = [agreement for agreement in candidates if is_in(agreement.entry, statements)]
    else:
        best = candidates
    if not best or not _one_group(best):
        return None
    is_all = bool(full) or is_rich or _is_rich(check, outcomes, key, "any")
    return Match(best[0].entry, is_all=is_all, more=best[0].more)


def is_in(entry: Misconception, statements: Collection[str]) -> bool:
    """Whether a file has all the statements that a misconception is made of."""
    return bool(entry.marks) and set(entry.marks) <= set(statements)


def _one_group(found: list[Agreement]) -> bool:
    first = found[0].entry
    return all(agreement.entry.id in (first.id, *first.same_as) for agreement in found)


def _is_rich(
    check: Check, outcomes: Mapping[Key, Outcome], key: AnswerKey, kind: Literal["floating", "any"] = "floating"
) -> bool:
    """Whether what is wrong is made of enough numbers to be recognised by them alone."""
    observed = [(outcomes.get((check.id, trial)), key.reference[check.id, trial]) for trial in range(check.trials)]
    return any(
        isinstance(outcome, Observed) and _wrong_numbers(outcome.value, expected, kind) >= RICH
        for outcome, expected in observed
    )


def _wrong_numbers(yours: Value, expected: Expected, kind: Literal["floating", "any"]) -> int:
    """Return how many numbers of a kind are wrong: all of a tensor that has another shape."""
    if isinstance(yours, Array) and isinstance(expected.nominal, Array):
        if kind == "floating" and not is_floating(yours):
            return 0
        if yours.shape != expected.nominal.shape or not isinstance(expected.exact, Array):
            return math.prod(yours.shape)
        return int(wrong(numbers(yours), numbers(expected.exact), 1e-3).sum())
    if isinstance(yours, dict) and isinstance(expected.nominal, dict):
        parts = [(yours.get(name), Expected(expected.nominal[name], expected.exact[name])) for name in expected.nominal]
    elif isinstance(yours, list) and isinstance(expected.nominal, list):
        parts = [(mine, Expected(*both)) for mine, *both in zip(yours, expected.nominal, expected.exact, strict=False)]
    else:
        return 0
    return sum(_wrong_numbers(mine, theirs, kind) for mine, theirs in parts)


def same_outcome(yours: Outcome, theirs: Outcome, check: Check, expected: Expected) -> bool:
    """Whether two wrong programs did the same."""
    match yours, theirs:
        case Observed(mine), Observed(other):
            return _same_value(mine, other, check) or _same_judgement(mine, other, check, expected)
        case Fault(), Fault():
            return (yours.type, yours.message) == (theirs.type, theirs.message)
    return False


def _same_judgement(mine: Value, theirs: Value, check: Check, expected: Expected) -> bool:
    """Whether a judge of the course's own says the same of both: random results need not be the same."""
    if not callable(check.judge):
        return False
    one, other = (judge_observation(value, expected, check.judge) for value in (mine, theirs))
    return one is not None and other is not None and one.fact.wording() == other.fact.wording()


def _same_value(mine: Value, theirs: Value, check: Check) -> bool:
    if isinstance(check.judge, Raises) and isinstance(mine, dict) and isinstance(theirs, dict):
        raised = mine.get("raised"), theirs.get("raised")
        return raised[0] == raised[1] and (raised[0] != [] or mine.get("message") == theirs.get("message"))
    if isinstance(check.judge, Dropout) and isinstance(mine, dict) and isinstance(theirs, dict):
        return _same_dropout(mine, theirs, check.judge.rate)
    tolerance = check.judge.tolerance if isinstance(check.judge, Same | Like) else None
    judge = Same(tolerance=min(tolerance, 1e-4)) if tolerance else Same()
    try:
        return compare(mine, Expected(theirs, theirs), judge) is None
    except (KeyError, IndexError):
        return False


def _same_dropout(mine: Mapping[str, Value], theirs: Mapping[str, Value], rate: float) -> bool:
    """Compare programs that drop at random by what they drop: the share, along what, and the size of what is kept."""
    steady = {name: part for name, part in theirs.items() if name != "train"}
    mine_steady = {name: part for name, part in mine.items() if name != "train"}
    if compare(mine_steady, Expected(steady, steady), Same()) is not None:
        return False
    yours, others, full = mine.get("train"), theirs.get("train"), mine.get("eval")
    if not (isinstance(yours, Array) and isinstance(others, Array) and isinstance(full, Array)):
        return type(yours) is type(others)
    if yours.shape != others.shape or yours.shape != full.shape:
        return yours.shape == others.shape
    if len({shared_axes(numbers(array), numbers(full), rate) for array in (yours, others)}) > 1:
        return False
    one, two = _kept(numbers(yours), numbers(full)), _kept(numbers(others), numbers(full))
    return bool(abs(one - two).max() < SAME_SHARE)


def _kept(train: Numbers, full: Numbers) -> Numbers:
    """Return the quantiles of the kept elements over their full values, the share of zeros, and that of NaN."""
    there = abs(full) > 1e-2 * abs(full).max(initial=0.0)
    if not there.any():
        return np.zeros(7)
    ratio = train[there] / full[there]
    kept = ratio[np.isfinite(ratio) & (ratio != 0)]
    quantiles = np.quantile(kept, (0.05, 0.25, 0.5, 0.75, 0.95)) if kept.size else np.zeros(5)
    return np.array([*quantiles, (ratio == 0).mean(), np.isnan(ratio).mean()])
