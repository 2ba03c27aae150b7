"""Diagnoses wrong observations: which part differs, and the pattern that explains it in two trials."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.checks import Check, Dropout, Same, SameInputs, Within
from autograder.comparison import (
    CHANGED_INPUT,
    Difference,
    Expected,
    Numbers,
    described,
    differences,
    differing_values,
    is_floating,
    numbers,
    other_number,
)
from autograder.course import shortened
from autograder.protocol import Array, Value
from autograder.results import DIGITS, Evidence, Fact, FindingKind, Maps, element, is_named, position

from .arrangement import detect_along, detect_rearrangement, detect_regions
from .case import LARGE, Case, Pattern, Places, Row, Sample
from .judgement import BESIDE_A_NAME, Diagnosis
from .masks import detect_masks, detect_softmax_weights
from .named_sizes import Axes, agreed
from .other_shapes import detect_shape
from .special import ZERO, ZERO_GRADIENT, detect_dtype, detect_precision, detect_special
from .values import detect_dropout, detect_elementwise, detect_known, detect_scaled

# The numbers behind a difference: a table, single elements that show the fact, and a slice to draw.

MOST_WITNESSES = 5
LARGEST_MAP = 24
"""Rows and columns; more do not fit on a screen."""

_NOTHING = 1e-6
"""A mean that is smaller, relative to the largest number, is 0 but for rounding."""

Index = tuple[int, ...]


def evidence_of(difference: Difference, case: Case, sample: Sample, title: str) -> Evidence:
    """Return the numbers behind a difference, formatted; `title` stands above those that the sample selects.

    Where only the dtype or the device is wrong, there are no numbers: what differs in them is rounding.
    """
    name = difference.subject or "result"
    rows = tuple(_rows(case, sample))
    if difference.kind in ("dtype", "device") and case.nearly_right:
        return Evidence(name, rows[:2])
    if case.yours.shape != case.expected.shape or not case.expected.size or not case.expected.ndim:
        return Evidence(name, rows)
    worst = _worst(case, sample.places)
    axes, counted = counted_axes(case)
    witnesses = tuple(_witness(case, index, counted) for index in _chosen(case, sample, worst))
    return Evidence(name, rows, witnesses, title, axes, _maps(case, worst) if sample.has_map else None)


def counted_axes(case: Case) -> tuple[str, tuple[int, ...]]:
    """Return the names of the axes that an index needs, and which they are; all of them where none has a word."""
    counted = tuple(at for at, size in enumerate(case.expected.shape) if size > 1)
    if any(is_named(case.at(at)) for at in counted):
        return ", ".join(case.at(at) for at in counted), counted
    return "at", tuple(range(case.expected.ndim))


def _rows(case: Case, sample: Sample) -> list[Row]:
    yours, expected = case.yours, case.expected
    rows = [("shape", str(expected.shape), str(yours.shape)), ("dtype", case.dtypes[1], case.dtypes[0])]
    measures: dict[str, Callable[[Any], Any]] = {"min": np.min, "mean": np.mean, "max": np.max}
    if case.dtypes[1] == "bool":
        measures = {"True": np.count_nonzero}
    elif case.is_integral:
        measures = {"min": np.min, "max": np.max}
    elif sample.row is None:
        measures["std"] = np.std
    last = sample.row if sample.row is not None and sample.row[0] not in measures else None
    rows += [
        (label, _measured(measure, expected, case), _measured(measure, yours, case))
        for label, measure in measures.items()
    ]
    return rows + ([last] if last else [])


def _measured(measure: Callable[[Any], Any], array: Numbers, case: Case) -> str:
    finite = array[np.isfinite(array)]
    if not finite.size:
        return "none" if not array.size else "NaN" if np.isnan(array).all() else "inf"
    value = float(measure(finite))
    if measure in (np.mean, np.std) and abs(value) < _NOTHING * float(np.abs(finite).max()):
        value = 0.0
    return str(int(value)) if measure is np.count_nonzero else element(value, case.dtypes[1])


def _gaps(case: Case) -> Numbers:
    with np.errstate(invalid="ignore"):
        gaps = np.abs(case.yours - case.expected)
    alike = (case.yours == case.expected) | (np.isnan(case.yours) & np.isnan(case.expected))
    # With five digits: which of two equally large differences is shown must not depend on how a machine rounds.
    return np.where(alike, 0.0, np.where(np.isnan(gaps), np.inf, _with_digits(gaps, 5)))


def _with_digits(numbers: Numbers, digits: int) -> Numbers:
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 10.0 ** (digits - 1 - np.floor(np.log10(numbers)))
        rounded = np.round(numbers * scale) / scale
    return np.where(np.isfinite(rounded), rounded, numbers)


def _worst(case: Case, places: Places | None) -> Index:
    """Return the place of the largest difference, among those that show the pattern if there are any."""
    gaps = _gaps(case)
    if places is not None and places.any():
        gaps = np.where(places, gaps, -1.0)
    return tuple(int(at) for at in np.unravel_index(int(gaps.argmax()), gaps.shape))


def _chosen(case: Case, sample: Sample, worst: Index) -> list[Index]:
    """Return the indices to show: spread over those of the sample in one slice, else the largest differences."""
    if sample.places is None or not sample.places.any():
        gaps = _gaps(case)
        least = np.partition(gaps, max(0, gaps.size - MOST_WITNESSES), axis=None)[max(0, gaps.size - MOST_WITNESSES)]
        among = np.flatnonzero(gaps >= least)
        largest = among[np.argsort(-gaps.reshape(-1)[among], kind="stable")][:MOST_WITNESSES]
        places = [tuple(map(int, np.unravel_index(int(flat), gaps.shape))) for flat in largest]
        return [at for at in places if gaps[at] > 0]
    found = [tuple(map(int, index)) for index in np.argwhere(sample.places)]
    leading = worst[:-2]
    there = [index for index in found if index[: len(leading)] == leading]
    found = there if len(there) >= 2 else found
    step = max(1, math.ceil(len(found) / MOST_WITNESSES))
    return found[::step][:MOST_WITNESSES]


def _witness(case: Case, index: Index, counted: Sequence[int]) -> Row:
    where = ", ".join(str(index[at]) for at in counted)
    expected, yours = (element(float(array[index]), case.dtypes[1]) for array in (case.expected, case.yours))
    return where, expected, yours


def _maps(case: Case, worst: Index) -> Maps | None:
    """Return the slice of the last two axes that has the largest difference, cut to what can be drawn."""
    if case.expected.ndim < 2 or min(case.expected.shape[-2:]) < 2:
        return None
    if (case.is_integral and case.dtypes[1] != "bool") or not any(map(is_named, case.names[-2:])):
        return None
    windows = [_window(size, at) for size, at in zip(case.expected.shape[-2:], worst[-2:], strict=True)]
    part: tuple[int | slice, ...] = (*worst[:-2], *windows)
    return Maps(_caption(case, worst, windows), _rounded(case.expected[part]), _rounded(case.yours[part]))


def _window(size: int, at: int) -> slice:
    start = 0 if at < LARGEST_MAP else min(at - LARGEST_MAP // 2, size - LARGEST_MAP)
    return slice(start, min(start + LARGEST_MAP, size))


def _rounded(array: Numbers) -> tuple[tuple[float | None, ...], ...]:
    return tuple(
        tuple(float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in row) for row in array.tolist()
    )


def _caption(case: Case, worst: Index, windows: Sequence[slice]) -> str:
    """Say which slice it is: `head 2 of batch 0, query × key`."""
    count = case.expected.ndim
    leading = [at for at in reversed(range(count - 2)) if case.expected.shape[at] > 1]
    slices = " of ".join(f"{case.at(at)}{'' if is_named(case.at(at)) else ' ='} {worst[at]}" for at in leading)
    axes = " × ".join(_side(case, at, window) for at, window in zip((count - 2, count - 1), windows, strict=True))
    return ", ".join(filter(None, (slices, axes)))


def _side(case: Case, axis: int, window: slice) -> str:
    size = case.expected.shape[axis]
    whole = window.stop - window.start == size
    return case.at(axis) if whole else f"{case.at(axis)} {window.start} to {window.stop - 1} of {size}"


@dataclass(frozen=True)
class Trial:
    """One trial of a failed check: what differs, if anything does, its axes, all that is expected, and all of yours."""

    difference: Difference | None
    axes: Axes
    reference: Value = None
    observed: Value = None


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
        return Diagnosis("pattern", CHANGED_INPUT, difference.subject)
    kind = _KINDS.get(difference.kind, "pattern")
    is_shown = evidence or not named or kind in BESIDE_A_NAME
    pattern = _explained(check, case, first, second) if case and is_shown else None
    if pattern is None:
        # Random results may be near by chance, and inputs of a check may all have the same sizes.
        right = [trial for trial in trials if trial.difference is None] if not isinstance(check.judge, Within) else []
        only_some_sizes = any(trial.axes.used_sizes != first.axes.used_sizes for trial in right)
        fact = _unexplained(difference, case, evidence=evidence)
        diagnosis = Diagnosis(kind, fact, difference.subject, only_some_sizes=only_some_sizes)
    else:
        words = {symbol: first.axes.word(symbol) for symbol in first.axes.sizes}
        in_gradient = pattern.fact == ZERO and "gradient" in difference.name
        fact = ZERO_GRADIENT if in_gradient else pattern.fact
        diagnosis = Diagnosis(kind, fact, difference.subject, pattern.coefficient, words)
    if evidence and (case is None or case.yours.shape == case.expected.shape == ()):
        return replace(diagnosis, evidence=_evidence_of_values(check, first, difference))
    if not evidence or case is None:
        return diagnosis
    sample = pattern.sample if pattern else Sample()
    return replace(diagnosis, evidence=evidence_of(difference, case, sample, diagnosis.fact.witnesses))


LONGEST_LIST = 60
"""Characters of a list beside the expected one: two of them fit in a table."""

MOST_PARTS = 24
"""Values that differ, one a line: more do not fit on a screen."""


def _evidence_of_values(check: Check, trial: Trial, first: Difference) -> Evidence | None:
    """Return the lists around the first value that differs, and the first such values; None if that adds nothing."""
    parts: list[Difference] = []
    if isinstance(check.judge, Same) and first.plain is not None:
        expected = Expected(trial.reference, trial.reference)
        parts = list(islice(differences(trial.observed, expected, check.judge), MOST_PARTS))
    called, *lists = first.lists or ("", [], [])
    name, rows = ", ".join(filter(None, (called, first.within))) or "result", _rows_of_lists(*lists)
    witnesses = tuple(
        (part.subject, _text(part.plain[1]), _text(part.plain[0])) for part in parts if part.plain is not None
    )
    if len(witnesses) < 2:
        return Evidence(name, rows) if rows else None
    return Evidence(name, rows, witnesses, "values that differ")


def _rows_of_lists(yours: Sequence[Value], expected: Sequence[Value]) -> tuple[Row, ...]:
    """Return both lists from just before the first part that differs; nothing for parts that are no plain values."""
    if yours == expected or not _is_plain([*yours, *expected]):
        return ()
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(yours, expected, strict=False)))
    first = max(same - 1, 0)
    left = "..., " if first else ""
    expected_text, text = (
        shortened(f"[{left}{str(list(parts[first:]))[1:]}", LONGEST_LIST) for parts in (expected, yours)
    )
    return (("parts", expected_text, text),)


def _text(value: Value) -> str:
    return element(value, "number") if isinstance(value, float) else shortened(described(value), LONGEST_LIST)


def _is_plain(value: Value) -> bool:
    """Whether a value is made of numbers and texts, without arrays."""
    if isinstance(value, list | dict):
        return all(map(_is_plain, value.values() if isinstance(value, dict) else value))
    return isinstance(value, bool | int | float | str | bytes | None)


_KINDS: dict[str, FindingKind] = {"dtype": "dtype", "device": "device", "type": "structure", "shape": "structure"}


def _case(check: Check, first: Trial, second: Trial | None) -> Case | None:
    """Return the arrays of a trial's difference, with the words for its axes that a second trial agrees on."""
    difference = first.difference
    if difference is None or difference.yours is None or difference.expected is None:
        return None
    words = first.axes.names(difference.expected.shape)
    other = second.difference if second else None
    if second is not None and other is not None and other.expected is not None and _are_alike(difference, other):
        words = agreed(words, second.axes.names(other.expected.shape))
    dropped = check.judge.rate if isinstance(check.judge, Dropout) else 0
    rate = {"1 - p": 1 - dropped, "1/(1 - p)": 1 / (1 - dropped)} if 0 < dropped < 1 else {}
    known = dict(_parts(first.reference, "", difference))
    expected = difference.expected
    if np.abs(expected).max(initial=0.0) < _ROUNDED_ZERO:
        expected = np.zeros_like(expected)
    return Case(difference.yours, expected, first.axes, words, difference.dtypes, known, rate, difference.off)


_ROUNDED_ZERO = 1e-6
"""Where all expected numbers are smaller, they are 0 up to rounding, and no factor of them means anything."""


def _explained(check: Check, case: Case, first: Trial, second: Trial | None) -> Pattern | None:
    if first.difference is None or first.difference.kind not in _WITH_PATTERNS:
        return None

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
    if fact.id == "special" and case.expected.size > 1:
        odd = ~np.isfinite(case.yours) & np.isfinite(case.expected)
        return replace(fact, also=(f"the first at {position(case.position(np.argwhere(odd)[0]))}",))
    if fact.id == "shape":
        axes, counted = counted_axes(case)
        sized = (_sized(case.at(at), case.expected.shape[at]) for at in counted)
        return fact if axes == "at" else replace(fact, asks=f"Expected: {', '.join(sized)}.")
    if fact.id != "value":
        return fact
    if case.expected.size == 1:
        return other_number(float(case.yours.flat[0]), float(case.expected.flat[0]), case.dtypes[1])
    wrong = case.wrong
    first = tuple(int(at) for at in np.argwhere(wrong)[0])
    index = _first_shown(wrong, case) if evidence else first
    values = (float(case.expected[index]), float(case.yours[index])) if evidence else None
    place, dtype = case.position(index), case.dtypes[1]
    return differing_values(int(wrong.sum()), wrong.size, dtype, place, values, is_first=index == first)


MOST_TRIED = 100
"""Wrong elements whose printed numbers are compared."""


def _first_shown(wrong: NDArray[np.bool_], case: Case) -> tuple[int, ...]:
    """Return the index of a wrong element: the first whose number is printed otherwise, else the furthest off."""
    indices, dtype = np.argwhere(wrong), case.dtypes[1]
    for index in map(tuple, indices[:MOST_TRIED]):
        if element(float(case.yours[index]), dtype) != element(float(case.expected[index]), dtype):
            break
    else:
        index = tuple(indices[np.argmax(np.abs(case.yours - case.expected)[wrong])])
    return tuple(int(at) for at in index)


def _sized(name: str, size: int) -> str:
    return f"{name} {size}" if is_named(name) else f"{name} of size {size}"


# All patterns in their order: exact before approximate, structure before statistics, regions before factors.

_NEAR = (detect_precision, detect_regions)
_CHEAP = (detect_special, detect_scaled)
_ALL = (
    detect_special,
    detect_masks,
    detect_known,
    detect_scaled,
    detect_elementwise,
    detect_rearrangement,
    detect_softmax_weights,
    detect_dropout,
    detect_precision,
    detect_regions,
    detect_along,
)


def recognise(case: Case) -> Iterator[Pattern]:
    """Yield every pattern that fits, the most telling first."""
    if case.yours.shape != case.expected.shape:
        yield from detect_shape(case)
        return
    if case.dtypes[0] != case.dtypes[1]:
        yield from detect_dtype(case)
        if case.dtypes[1] != "bool":
            return
    if not case.expected.size:
        return
    if case.values == 1:  # equal weights: the axis that they share says more than the one number that they are
        yield from detect_softmax_weights(case)
    for detect in _NEAR if case.nearly_right else _CHEAP if case.expected.size > LARGE else _ALL:
        yield from detect(case)


def explain(first: Case, second: Case | None) -> Pattern | None:
    """Return the first pattern of a case that a second trial confirms, or that is sure by itself if there is none."""
    if second is None:
        return next((found for pattern in recognise(first) if (found := pattern.alone())), None)
    seen: list[Pattern] = []
    unseen = recognise(second)
    for pattern in recognise(first):
        if found := pattern.confirmed_by(chain(seen, _kept(unseen, seen))):
            return found
    return None


def _kept(patterns: Iterator[Pattern], seen: list[Pattern]) -> Iterator[Pattern]:
    """Yield patterns, and keep each of them, so that none is looked for twice."""
    for pattern in patterns:
        seen.append(pattern)
        yield pattern
