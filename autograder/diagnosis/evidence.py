"""The numbers behind a difference: a table, single elements that show the fact, and a slice to draw."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.comparison.arrays import Numbers
from autograder.comparison.compare import Difference
from autograder.diagnosis.patterns.case import Case, Places
from autograder.diagnosis.patterns.pattern import Row, Sample
from autograder.messages.elements import DIGITS, element, is_named
from autograder.results import Evidence
from autograder.results.model import Maps

MOST_WITNESSES = 5
LARGEST_MAP = 24
"""Rows and columns; more do not fit on a screen."""

_NOTHING = 1e-6
"""A mean that is smaller, relative to the largest number, is 0 but for rounding."""

Index = tuple[int, ...]


def evidence_of(difference: Difference, case: Case, sample: Sample, title: str) -> Evidence:
    """Return the numbers behind a difference, formatted; `title` stands above those that the sample selects."""
    name = difference.subject or "result"
    rows = tuple(_rows(case, sample))
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
    elif case.is_whole:
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
    if (case.is_whole and case.dtypes[1] != "bool") or not any(map(is_named, case.names[-2:])):
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
