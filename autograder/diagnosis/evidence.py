"""The numbers behind a difference: a table, single elements that show what is said, and a slice to be drawn."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.comparison.arrays import Numbers
from autograder.comparison.compare import Difference
from autograder.diagnosis.patterns import Case, Row, Shown
from autograder.diagnosis.patterns.axes import is_named, item
from autograder.diagnosis.patterns.case import Places
from autograder.results import Evidence
from autograder.results.model import Maps

MOST_WITNESSES = 5
LARGEST_MAP = 24
DIGITS = 4

_NOTHING = 1e-6
"""A mean that is smaller, relative to the largest number, is 0 but for rounding."""

Index = tuple[int, ...]


def evidence_of(difference: Difference, case: Case, shown: Shown) -> Evidence:
    """Return the numbers behind a difference, already formatted; `shown` says which of them tell most."""
    name = difference.name or "result"
    rows = tuple(_rows(case, shown))
    if case.yours.shape != case.expected.shape or not case.expected.size or not case.expected.ndim:
        return Evidence(name, rows)
    worst = _worst(case, shown.places)
    axes, told = axes_told(case)
    witnesses = tuple(_witness(case, at, told) for at in _chosen(case, shown, worst))
    return Evidence(name, rows, witnesses, shown.title, axes, _maps(case, worst) if shown.map else None)


def axes_told(case: Case) -> tuple[str, tuple[int, ...]]:
    """Return the names of the axes that an index has to tell, and which they are; without any word it tells all."""
    counted = tuple(at for at, size in enumerate(case.expected.shape) if size > 1)
    if any(is_named(case.at(at)) for at in counted):
        return ", ".join(case.at(at) for at in counted), counted
    return "at", tuple(range(case.expected.ndim))


def place_of(case: Case, index: Index) -> str:
    """Return a place in words: `query 0, feature 1`, or `[0, 1]` where no axis has a word."""
    axes, told = axes_told(case)
    if axes == "at":
        return str(list(index))
    return ", ".join(item(case.at(at), index[at]) for at in told)


def number(value: float, case: Case) -> str:
    """Return one element as it is shown."""
    if math.isnan(value):
        return "NaN"
    if case.dtypes[1] == "bool" and value in (0, 1):
        return str(bool(value))
    if case.is_whole and float(value).is_integer():
        return str(int(value))
    return f"{value:.{DIGITS}g}"


def _rows(case: Case, shown: Shown) -> list[Row]:
    yours, expected = case.yours, case.expected
    rows = [("shape", str(expected.shape), str(yours.shape)), ("dtype", case.dtypes[1], case.dtypes[0])]
    measures: dict[str, Callable[[Any], Any]] = {"min": np.min, "mean": np.mean, "max": np.max}
    if case.dtypes[1] == "bool":
        measures = {"True": np.count_nonzero}
    elif case.is_whole:
        measures = {"min": np.min, "max": np.max}
    elif shown.row is None:
        measures["std"] = np.std
    telling = shown.row if shown.row is not None and shown.row[0] not in measures else None
    rows += [(label, _measured(each, expected, case), _measured(each, yours, case)) for label, each in measures.items()]
    return rows + ([telling] if telling else [])


def _measured(measure: Callable[[Any], Any], array: Numbers, case: Case) -> str:
    finite = array[np.isfinite(array)]
    if not finite.size:
        return "none" if not array.size else "NaN" if np.isnan(array).all() else "inf"
    value = float(measure(finite))
    if measure in (np.mean, np.std) and abs(value) < _NOTHING * float(np.abs(finite).max()):
        value = 0.0
    return str(int(value)) if measure is np.count_nonzero else number(value, case)


def _gaps(case: Case) -> Numbers:
    with np.errstate(invalid="ignore"):
        gaps = np.abs(case.yours - case.expected)
    alike = (case.yours == case.expected) | (np.isnan(case.yours) & np.isnan(case.expected))
    return np.where(alike, 0.0, np.where(np.isnan(gaps), np.inf, gaps))


def _worst(case: Case, places: Places | None) -> Index:
    """Return the place of the largest difference, among those that show the pattern if there are any."""
    gaps = _gaps(case)
    if places is not None and places.any():
        gaps = np.where(places, gaps, -1.0)
    return tuple(int(each) for each in np.unravel_index(int(gaps.argmax()), gaps.shape))


def _chosen(case: Case, shown: Shown, worst: Index) -> list[Index]:
    """Return the witnesses' places: spread over those of the pattern in one slice, else the largest differences."""
    if shown.places is None or not shown.places.any():
        gaps = _gaps(case)
        least = np.partition(gaps, max(0, gaps.size - MOST_WITNESSES), axis=None)[max(0, gaps.size - MOST_WITNESSES)]
        among = np.flatnonzero(gaps >= least)
        largest = among[np.argsort(-gaps.reshape(-1)[among], kind="stable")][:MOST_WITNESSES]
        places = [tuple(map(int, np.unravel_index(int(flat), gaps.shape))) for flat in largest]
        return [at for at in places if gaps[at] > 0]
    found = [tuple(map(int, each)) for each in np.argwhere(shown.places)]
    leading = worst[:-2]
    there = [each for each in found if each[: len(leading)] == leading]
    found = there if len(there) >= 2 else found
    step = max(1, math.ceil(len(found) / MOST_WITNESSES))
    return found[::step][:MOST_WITNESSES]


def _witness(case: Case, index: Index, told: Sequence[int]) -> Row:
    where = ", ".join(str(index[at]) for at in told)
    return where, number(float(case.expected[index]), case), number(float(case.yours[index]), case)


def _maps(case: Case, worst: Index) -> Maps | None:
    """Return the slice of the last two axes that has the largest difference, cut to what can be drawn."""
    if case.expected.ndim < 2 or min(case.expected.shape[-2:]) < 2:
        return None
    if (case.is_whole and case.dtypes[1] != "bool") or not any(map(is_named, case.names[-2:])):
        return None
    windows = [_window(size, at) for size, at in zip(case.expected.shape[-2:], worst[-2:], strict=True)]
    part: tuple[int | slice, ...] = (*worst[:-2], *windows)
    return Maps(_caption(case, worst, windows), _drawn(case.expected[part]), _drawn(case.yours[part]))


def _window(size: int, at: int) -> slice:
    start = 0 if at < LARGEST_MAP else min(at - LARGEST_MAP // 2, size - LARGEST_MAP)
    return slice(start, min(start + LARGEST_MAP, size))


def _drawn(array: Numbers) -> tuple[tuple[float | None, ...], ...]:
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
