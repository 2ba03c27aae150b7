"""Matches a submission with the misconceptions: it is named only if it gives what a known wrong program gives."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from autograder.answer_key.model import AnswerKey, Misconception
from autograder.checks import Check
from autograder.checks.trials import Key
from autograder.comparison.arrays import is_floating, numbers, wrong
from autograder.comparison.compare import Expected
from autograder.comparison.sketches import Sums, is_same
from autograder.judge.todos import is_nothing
from autograder.protocol import Array, Value
from autograder.runner.outcomes import Fault, Observed, Outcome

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
    sums: Sums = {}
    return [_agreement(entry, outcomes, failing, key, checks, sums) for entry in key.misconceptions] if failing else []


def _agreement(
    entry: Misconception,
    outcomes: Mapping[Key, Outcome],
    failing: Collection[Key],
    key: AnswerKey,
    checks: Mapping[str, Check],
    sums: Sums,
) -> Agreement:
    theirs = entry.outcomes
    different = {at[0] for at in outcomes if (at in theirs) != (at in failing)}
    for at, yours in outcomes.items():
        if at not in theirs or at[0] in different:
            continue
        if not is_same(yours, theirs[at], checks[at[0]].judge, key.reference[at], sums):
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
