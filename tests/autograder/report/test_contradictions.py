"""No part of a failure contradicts another part: 2,000 verdicts on drawn results, each as it would be shown."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from autograder.report import FailureView, failure_view
from autograder.results import CheckResult
from tests.support.observations import finding, trial_of
from tests.support.zoo import ZOO, TrialNumbers, Wrong

pytestmark = pytest.mark.long

DRAWN = 2000
DTYPES = (None, "float64", "float16", None)
"""The dtype that a result comes in, where float32 is expected."""

_SHAPES = re.compile(r"shape (\([\d, ]*\)), expected (\([\d, ]*\))")
_SOME = re.compile(r"\b(\d+) of (\d+) numbers differ")
_ONLY_DTYPE = re.compile(r": (\w+), expected (\w+)\.$")


def view_of(wrong: Wrong, draw: int) -> FailureView | None:
    """Return what is shown of a wrong result with numbers of its own; None where no two trials are wrong."""
    trials = []
    for number in range(2):
        yours, expected = wrong.make(TrialNumbers(number, f"{wrong.name}{draw}"))
        trials.append(trial_of(yours, expected, number, DTYPES[draw % len(DTYPES)]))
    if any(trial.difference is None for trial in trials):
        return None
    return failure_view(CheckResult("scaled", "a title", "fail", 0, 1, finding=finding(trials)))


def verdicts() -> Iterator[tuple[str, FailureView]]:
    draw = 0
    while True:
        for wrong in ZOO:
            if view := view_of(wrong, draw):
                yield f"{wrong.name}, draw {draw}", view
        draw += 1


def contradictions(view: FailureView) -> Iterator[str]:
    """Yield what two parts of a view say of one thing, where only one of them can be true."""
    rows = {label: (expected, yours) for label, expected, yours in view.comparison.rows} if view.comparison else {}
    shape, dtype = (rows.get(label, ("", "")) for label in ("shape", "dtype"))
    if view.comparison and all(expected == yours for expected, yours in rows.values()):
        yield "a table in which nothing differs"
    if view.witnesses and any(expected == yours for _, expected, yours in view.witnesses.rows):
        yield "an element that is shown as different, with two equal numbers"
    if view.maps and view.maps.expected == view.maps.yours:
        yield "two equal maps"
    if view.maps and rows and shape[0] != shape[1]:
        yield "two maps of a result that has another shape"
    if (said := _SHAPES.search(view.message)) and rows and (said[2], said[1]) != shape:
        yield f"a sentence on the shapes {said[1]} and {said[2]}, and a table with {shape}"
    if (said := _ONLY_DTYPE.search(view.message)) and rows and (said[2], said[1]) != dtype:
        yield f"a sentence on the dtypes {said[1]} and {said[2]}, and a table with {dtype}"
    if (said := _SOME.search(view.message)) and not 0 < int(said[1]) < int(said[2]):
        yield f"a sentence that {said[0]}"
    if re.search(r"\bdtype\b", view.opening) and rows and dtype[0] == dtype[1]:
        yield "a sentence on a dtype that is right"
    if _ONLY_DTYPE.search(view.message) and (view.witnesses or view.maps):
        yield "numbers of a result of which only the dtype is wrong"


def test_no_part_of_a_verdict_contradicts_another() -> None:
    found: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for (name, view), _ in zip(verdicts(), range(DRAWN), strict=False):
        for contradiction in contradictions(view):
            kind = re.sub(r"[\d(][\d, ()']*|float\d+", "N", contradiction)
            found[kind] += 1
            examples.setdefault(kind, f"{name}: {contradiction}: {view.message}")
    assert not found, "\n".join(f"{count} × {examples[kind]}" for kind, count in found.most_common())
