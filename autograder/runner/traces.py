"""The trace of a program, as the judge holds it: the steps of one probe, with fingerprints in place of values."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder import protocol
from autograder.results import Place

from .outcomes import as_integer, as_line, as_list, as_text

LARGEST = 1e30
"""The largest number in a fingerprint, so that comparing two does not overflow."""


@dataclass(frozen=True)
class TraceStep:
    """One tensor or plain value that was made: how, its location, and the earlier steps it was made from.

    `stack` has the locations in the program's frames, the nearest first; it is empty for a tensor made by the check.
    `prints` is the index of its first fingerprint, and their number. `number` is a variable that held a plain number
    among the operation's arguments, and that number.
    """

    name: str
    stack: tuple[Place, ...]
    inputs: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: str
    grad: bool
    prints: tuple[int, int]
    number: tuple[str, float] | None = None


@dataclass(frozen=True)
class RecordedTrace:
    """The steps of a probe in the order they were made, and their fingerprints; `results` made what it returned."""

    steps: tuple[TraceStep, ...]
    prints: protocol.Fingerprints
    results: tuple[int, ...]

    def print_of(self, step: TraceStep) -> protocol.Fingerprints:
        """Return the fingerprint of the whole tensor of a step."""
        return np.asarray(self.prints[step.prints[0]])


def read_trace(data: Mapping[str, Any], *, sliced: bool = True) -> RecordedTrace:
    """Return a trace from a worker's data; raises LookupError, TypeError or ValueError if it is out of bounds.

    With `sliced`, steps may also have fingerprints of their slices, as those of a solution do.
    """
    most = protocol.MOST_PRINTS if sliced else 1
    files = [as_text(file) for file in as_list(data["files"], protocol.TRACE_FILES)]
    places = [_place(place, files) for place in as_list(data["places"], protocol.TRACE_PLACES)]
    rows = as_list(data["steps"], protocol.TRACE_STEPS)
    if "values" in data:
        prints = _prints_of_values(data["values"], rows)
    else:
        prints = _prints(data["prints"], protocol.TRACE_STEPS * most)
    steps = tuple(_step(row, index, places, len(prints), most) for index, row in enumerate(rows))
    results = tuple(as_integer(step, len(steps) - 1) for step in as_list(data["results"], protocol.TRACE_RESULTS))
    return RecordedTrace(steps, prints, results)


def _prints(array: Any, most: int) -> protocol.Fingerprints:
    if not isinstance(array, protocol.Array) or array.dtype != "float64" or array.shape[1:] != (protocol.WIDTH,):
        raise ValueError("fingerprints of the wrong form")
    if array.shape[0] > most:
        raise ValueError("too many fingerprints")
    numbers = np.nan_to_num(np.frombuffer(array.data, dtype="<f8").reshape(array.shape))
    clipped: protocol.Fingerprints = np.clip(numbers, -LARGEST, LARGEST)
    return clipped


def _prints_of_values(array: Any, rows: Sequence[Any]) -> protocol.Fingerprints:
    """Return the fingerprints of plain values, which a worker without NumPy sends as they are."""
    if not isinstance(array, protocol.Array) or array.dtype != "float64" or len(array.shape) != 1:
        raise ValueError("values of the wrong form")
    numbers, prints, end = np.frombuffer(array.data, dtype="<f8"), [], 0
    for row in rows:
        size = math.prod(as_integer(size, protocol.PLAIN_NUMBERS) for size in as_list(row[3], protocol.TRACE_AXES))
        if size > protocol.PLAIN_NUMBERS or end + size > len(numbers):
            raise ValueError("values that do not fit the steps")
        prints.append(protocol.fingerprint(numbers[end : end + size]))
        end += size
    return np.array(prints).reshape(-1, protocol.WIDTH)


def _step(data: Any, index: int, places: list[Place], prints: int, most_prints: int) -> TraceStep:
    """Return step number `index`: its inputs are earlier steps, and its places and prints have to exist."""
    name, stack, inputs, shape, dtype, grad, (first, count), number = data
    sizes = tuple(as_integer(size, protocol.TRACE_ELEMENTS) for size in as_list(shape, protocol.TRACE_AXES))
    if math.prod(sizes) > protocol.TRACE_ELEMENTS or type(grad) is not bool:
        raise ValueError("a step of the wrong form")
    return TraceStep(
        as_text(name, protocol.TRACE_NAME),
        tuple(places[as_integer(place, len(places) - 1)] for place in as_list(stack, protocol.TRACE_STACK)),
        tuple(as_integer(step, index - 1) for step in as_list(inputs, protocol.TRACE_INPUTS)),
        sizes,
        as_text(dtype, protocol.TRACE_DTYPE),
        grad,
        (as_integer(first, prints - 1), as_integer(count, min(most_prints, prints - first), 1)),
        _number(*number) if number is not None else None,
    )


def _number(name: Any, value: Any) -> tuple[str, float]:
    if type(value) not in (int, float):
        raise ValueError("a variable that is not a number")
    return as_text(name, protocol.TRACE_NAME), float(value)


def _place(data: Any, files: list[str]) -> Place:
    file, function, first, last, column, end = data
    one_line = as_line(first) == as_line(last) and column is not None and end is not None
    columns = (as_line(column), as_line(end)) if one_line else (None, None)
    return Place(files[as_integer(file, len(files) - 1)], first, as_text(function), *columns)
