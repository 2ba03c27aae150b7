"""Diagnoses wrong observations: which part differs, and the pattern that explains it in two trials."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np

from autograder.checks import Check, Dropout, Judge, SameInputs
from autograder.comparison.arrays import Numbers, numbers
from autograder.comparison.compare import Difference
from autograder.comparison.tolerances import is_floating
from autograder.diagnosis.diagnosis import Diagnosis
from autograder.diagnosis.evidence import counted_axes, evidence_of
from autograder.diagnosis.patterns.axes import Axes, agreed
from autograder.diagnosis.patterns.case import Case
from autograder.diagnosis.patterns.pattern import Pattern, Sample
from autograder.messages import Fact
from autograder.messages.comparisons import InputChanged, NotFinite, NumberDiffers, ValuesDiffer
from autograder.messages.shapes import ShapeDiffers
from autograder.messages.special import AllZero
from autograder.protocol import Array, Value
from autograder.results.model import FindingKind


@dataclass(frozen=True)
class Trial:
    """One trial of a failed check: what differs, if anything does, its axes, and all that is expected of it."""

    difference: Difference | None
    axes: Axes
    reference: Value = None


@np.errstate(all="ignore")
def of_difference(check: Check, trials: Sequence[Trial], *, evidence: bool, named: bool = False) -> Diagnosis:
    """Diagnose wrong observations; a pattern counts only if a second wrong trial shows it too.

    Without `evidence` the diagnosis holds no number of the answer key. Where the mistake is `named` anyway, a pattern
    is looked for only if it stands beside the name.
    """
    wrong = [trial for trial in trials if trial.difference is not None]
    first, second = wrong[0], wrong[1] if len(wrong) > 1 else None
    difference = first.difference
    assert difference is not None
    case = _case(check, first, second)
    if isinstance(check.judge, SameInputs):
        return Diagnosis("pattern", InputChanged(), difference.subject)
    kind = _KINDS.get(difference.kind, "pattern")
    is_shown = evidence or not named or kind in BESIDE_A_NAME
    pattern = _explained(check, case, first, second) if case and is_shown else None
    if pattern is None:
        only_some_sizes = second is None and len(trials) > 1
        fact = _unexplained(difference, case, evidence=evidence)
        diagnosis = Diagnosis(kind, fact, difference.subject, only_some_sizes=only_some_sizes)
    else:
        words = {symbol: first.axes.word(symbol) for symbol in first.axes.sizes}
        in_gradient = isinstance(pattern.fact, AllZero) and "gradient" in difference.name
        fact = AllZero(in_gradient=True) if in_gradient else pattern.fact
        diagnosis = Diagnosis(kind, fact, difference.subject, pattern.coefficient, words)
    if not evidence or case is None or case.yours.shape == case.expected.shape == ():
        return diagnosis
    sample = pattern.sample if pattern else Sample()
    return replace(diagnosis, evidence=evidence_of(difference, case, sample, diagnosis.fact.wording().witnesses))


_KINDS: dict[str, FindingKind] = {"dtype": "dtype", "device": "device", "type": "structure", "shape": "structure"}

BESIDE_A_NAME: Collection[FindingKind] = ("structure", "device")
"""The kinds of facts that stand below the name of a misconception."""


def _case(check: Check, first: Trial, second: Trial | None) -> Case | None:
    """Return the arrays of a trial's difference, with the words for its axes that a second trial agrees on."""
    difference = first.difference
    if difference is None or difference.yours is None or difference.expected is None:
        return None
    words = first.axes.names(difference.expected.shape)
    other = second.difference if second else None
    if second is not None and other is not None and other.expected is not None and _are_alike(difference, other):
        words = agreed(words, second.axes.names(other.expected.shape))
    rate = {"1 - p": 1 - check.judge.rate, "1/(1 - p)": 1 / (1 - check.judge.rate)} if _drops(check.judge) else {}
    known = dict(_parts(first.reference, "", difference))
    expected = difference.expected
    if np.abs(expected).max(initial=0.0) < _ROUNDED_ZERO:
        expected = np.zeros_like(expected)
    return Case(difference.yours, expected, first.axes, words, difference.dtypes, known, rate, difference.off)


_ROUNDED_ZERO = 1e-6
"""Where all expected numbers are smaller, they are 0 up to rounding, and no factor of them means anything."""


def _drops(judge: Judge) -> TypeGuard[Dropout]:
    return isinstance(judge, Dropout) and 0 < judge.rate < 1


def _explained(check: Check, case: Case, first: Trial, second: Trial | None) -> Pattern | None:
    if first.difference is None or first.difference.kind not in _WITH_PATTERNS:
        return None
    from autograder.diagnosis.patterns.detectors import explain  # the patterns have many facts, which load slowly

    if check.trials == 1:
        return explain(case, None)
    other = _case(check, second, first) if second is not None else None
    if second is None or other is None or second.difference is None:
        return None
    return explain(case, other) if _are_alike(first.difference, second.difference) else None


_WITH_PATTERNS = ("value", "special", "shape", "dtype")


def _are_alike(one: Difference, other: Difference) -> bool:
    """Whether two trials differ in the same part; its name may hold a size."""
    return re.sub(r"\d+", "", one.name) == re.sub(r"\d+", "", other.name)


def _parts(value: Value, name: str, difference: Difference) -> Iterator[tuple[str, Numbers]]:
    """Yield the other floating-point tensors that are expected of an observation, by name."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _parts(part, key, difference)
    elif isinstance(value, Array) and name and name != difference.name and is_floating(value):
        yield name, numbers(value)


def _unexplained(difference: Difference, case: Case | None, *, evidence: bool) -> Fact:
    """Return the fact of a difference that follows no pattern, with the first element that differs."""
    fact = difference.fact
    if case is None:
        return fact
    if isinstance(fact, NotFinite) and case.expected.size > 1:
        odd = ~np.isfinite(case.yours) & np.isfinite(case.expected)
        return replace(fact, first=case.position(np.argwhere(odd)[0]))
    if isinstance(fact, ShapeDiffers):
        axes, counted = counted_axes(case)
        return replace(fact, axes=tuple((case.at(at), case.expected.shape[at]) for at in counted if axes != "at"))
    if not isinstance(fact, ValuesDiffer | NumberDiffers):
        return fact
    if case.expected.size == 1:
        return NumberDiffers(float(case.yours.flat[0]), float(case.expected.flat[0]), case.dtypes[1])
    wrong = case.wrong
    index = tuple(int(at) for at in np.argwhere(wrong)[0])
    values = (float(case.expected[index]), float(case.yours[index])) if evidence else None
    return ValuesDiffer(int(wrong.sum()), wrong.size, case.dtypes[1], case.position(index), values)
