"""Pictures of what a student's finished parts do. A worker's data is hostile: only small pictures pass."""

import math
import struct
from collections.abc import Iterator, Mapping, Sequence

from autograder.checks import Drawing, Key
from autograder.course import Exercise
from autograder.protocol import Array, Value
from autograder.results import Picture
from autograder.runner import Fault, Observed, Outcome, Plan, WorkerFailure

MOST_ROWS, MOST_COLUMNS = 64, 200
LONGEST_LABEL = 24
DIGITS = 4
"""Significant digits that are kept: no eye sees more."""


class NoPicture(Exception):
    """What a probe returned cannot be drawn; the message says why."""


def plan_of(exercise: Exercise, drawings: Sequence[Drawing]) -> Plan:
    """Return the plan of some pictures of an exercise."""
    return {exercise.id: [(drawing.id, 0) for drawing in drawings]} if drawings else {}


def pictures_of(drawings: Sequence[Drawing], outcomes: Mapping[Key, Outcome]) -> tuple[Picture, ...]:
    """Return the pictures that can be drawn; the others are no matter of a student's."""
    return tuple(found for found in _read_all(drawings, outcomes) if isinstance(found, Picture))


def failures(drawings: Sequence[Drawing], outcomes: Mapping[Key, Outcome]) -> list[str]:
    """Return for the author why the others cannot be drawn, a sentence each."""
    return [str(found) for found in _read_all(drawings, outcomes) if isinstance(found, NoPicture)]


def _read_all(drawings: Sequence[Drawing], outcomes: Mapping[Key, Outcome]) -> Iterator[Picture | NoPicture]:
    for drawing in drawings:
        try:
            yield _picture(drawing, outcomes.get((drawing.id, 0)))
        except NoPicture as error:
            yield NoPicture(f"the picture {drawing.id} {error}")


def _picture(drawing: Drawing, outcome: Outcome | None) -> Picture:
    match outcome:
        case Observed():
            values, row_labels, column_labels = _parts(outcome.value)
        case Fault():
            raise NoPicture(f"raises {outcome.type}: {outcome.full_message}")
        case WorkerFailure():
            raise NoPicture(f"ended the process: {outcome.sentence}")
        case None:
            raise NoPicture("was not drawn")
    grid, bars = _grid(values)
    return Picture(
        drawing.title,
        grid,
        drawing.rows,
        drawing.columns,
        _labels(row_labels, 0 if bars else len(grid), "row"),
        _labels(column_labels, len(grid[0]), "column"),
        bars,
    )


def _parts(value: Value) -> tuple[Value, Value, Value]:
    if isinstance(value, Array):
        return value, [], []
    if isinstance(value, list) and len(value) == 3:
        values, row_labels, column_labels = value
        return values, row_labels, column_labels
    raise NoPicture("returns neither a tensor nor a tensor with labels of its rows and of its columns")


def _grid(values: Value) -> tuple[tuple[tuple[float | None, ...], ...], bool]:
    """Return rows of numbers, and whether they are the heights of bars: a tensor of one axis."""
    if not isinstance(values, Array) or len(values.shape) not in (1, 2):
        raise NoPicture("has no tensor of one axis or two")
    rows, columns = values.shape if len(values.shape) == 2 else (1, *values.shape)
    if not (1 <= rows <= MOST_ROWS and 1 <= columns <= MOST_COLUMNS):
        raise NoPicture(f"has {rows} × {columns} values, expected 1 × 1 to {MOST_ROWS} × {MOST_COLUMNS}")
    found = _numbers(values)
    if not any(map(math.isfinite, found)):
        raise NoPicture("has no finite value")
    grid = [found[start : start + columns] for start in range(0, rows * columns, columns)]
    return tuple(tuple(_shortened(value) for value in row) for row in grid), len(values.shape) == 1


_CODES = {
    **{"float64": "d", "float32": "f", "float16": "e", "bool": "?", "uint8": "B"},
    **{"int64": "q", "int32": "i", "int16": "h", "int8": "b"},
}
"""How `struct` names a dtype; it has no name for bfloat16."""


def _numbers(array: Array) -> list[float]:
    """Return the elements. NumPy would take longer to load than a whole check of plain Python."""
    if array.dtype not in _CODES:
        from autograder.comparison import numbers  # NumPy, which a check that passes does not need

        return [float(value) for value in numbers(array).ravel()]
    count = math.prod(array.shape)
    return [float(value) for value in struct.unpack(f"<{count}{_CODES[array.dtype]}", array.data)]


def _shortened(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def _labels(labels: Value, count: int, axis: str) -> tuple[str, ...]:
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise NoPicture(f"has {axis} labels that are no list of strings")
    if len(labels) not in (0, count):
        expected = f"{count}, or none" if count else "none, as bars have no rows"
        raise NoPicture(f"has {len(labels)} {axis} labels, expected {expected}")
    if any(len(label) > LONGEST_LABEL for label in labels):
        raise NoPicture(f"has a {axis} label of more than {LONGEST_LABEL} characters")
    return tuple(labels)
