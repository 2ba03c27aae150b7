"""What a program computed on its way, as the judge holds it: the steps of one probe, with fingerprints for values."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.protocol import Array, Value
from autograder.protocol.bounds import (
    TRACE_AXES,
    TRACE_DTYPE,
    TRACE_ELEMENTS,
    TRACE_FILES,
    TRACE_INPUTS,
    TRACE_NAME,
    TRACE_PLACES,
    TRACE_RESULTS,
    TRACE_STACK,
    TRACE_STEPS,
)
from autograder.protocol.prints import MOST_PRINTS, WIDTH, Prints
from autograder.results import Place
from autograder.runner.received import line, parts, text, whole

LARGEST = 1e30
"""A fingerprint holds no larger number, so that none overflows when two are compared."""


@dataclass(frozen=True)
class Step:
    """One tensor that was made: by which operation, where, from which earlier steps.

    `stack` has the places in the program's frames, the nearest first; none where the check made it. `prints` says which
    fingerprints are its own: the first, and how many. `number` is a variable that held a plain number it was made with,
    and that number.
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
class Trace:
    """The steps of a probe in the order they were made, and their fingerprints; `results` made what it returned."""

    steps: tuple[Step, ...]
    prints: Prints
    results: tuple[int, ...]

    def print_of(self, step: Step) -> Prints:
        """Return the fingerprint of the whole tensor of a step."""
        return np.asarray(self.prints[step.prints[0]])


def read_trace(data: Mapping[str, Any], *, sliced: bool = True) -> Trace:
    """Return a trace as a worker sends it; raises LookupError, TypeError or ValueError beyond its bounds.

    `sliced` says whether steps may have fingerprints of their slices too: those of a solution have.
    """
    most = MOST_PRINTS if sliced else 1
    prints = _prints(data["prints"], TRACE_STEPS * most)
    files = [text(each) for each in parts(data["files"], TRACE_FILES)]
    places = [_place(each, files) for each in parts(data["places"], TRACE_PLACES)]
    told = parts(data["steps"], TRACE_STEPS)
    steps = tuple(_step(each, at, places, len(prints), most) for at, each in enumerate(told))
    results = tuple(whole(each, len(steps) - 1) for each in parts(data["results"], TRACE_RESULTS))
    return Trace(steps, prints, results)


def _prints(array: Any, most: int) -> Prints:
    if not isinstance(array, Array) or array.dtype != "float64" or array.shape[1:] != (WIDTH,):
        raise ValueError("fingerprints of another form")
    if array.shape[0] > most:
        raise ValueError("too many fingerprints")
    numbers = np.nan_to_num(np.frombuffer(array.data, dtype="<f8").reshape(array.shape))
    found: Prints = np.clip(numbers, -LARGEST, LARGEST)
    return found


def _step(data: Any, at: int, places: list[Place], prints: int, most_prints: int) -> Step:
    name, stack, inputs, shape, dtype, grad, (first, count), number = data
    sizes = tuple(whole(each, TRACE_ELEMENTS) for each in parts(shape, TRACE_AXES))
    if math.prod(sizes) > TRACE_ELEMENTS or type(grad) is not bool:
        raise ValueError("a step of another form")
    return Step(
        text(name, TRACE_NAME),
        tuple(places[whole(each, len(places) - 1)] for each in parts(stack, TRACE_STACK)),
        tuple(whole(each, at - 1) for each in parts(inputs, TRACE_INPUTS)),
        sizes,
        text(dtype, TRACE_DTYPE),
        grad,
        (whole(first, prints - 1), whole(count, min(most_prints, prints - first), 1)),
        _number(*number) if number is not None else None,
    )


def _number(name: Any, value: Any) -> tuple[str, float]:
    if type(value) not in (int, float):
        raise ValueError("a variable that holds no number")
    return text(name, TRACE_NAME), float(value)


def _place(data: Any, files: list[str]) -> Place:
    file, function, first, last, column, end = data
    one_line = line(first) == line(last) and column is not None and end is not None
    columns = (line(column), line(end)) if one_line else (None, None)
    return Place(files[whole(file, len(files) - 1)], first, text(function), *columns)


def to_record(trace: Trace) -> Value:
    """Return what is kept of the reference's trace: no text of the solution, of a place the number of the line only."""
    prints = trace.prints.astype("<f8")
    lines = sorted({each.stack[0].line for each in trace.steps if each.stack})
    numbers = {line: at for at, line in enumerate(lines)}
    return {
        "files": [""],
        "places": [[0, "", line, line, None, None] for line in lines],
        "steps": [
            [
                each.name,
                [numbers[each.stack[0].line]] if each.stack else [],
                list(each.inputs),
                list(each.shape),
                each.dtype,
                each.grad,
                list(each.prints),
                None,
            ]
            for each in trace.steps
        ],
        "results": list(trace.results),
        "prints": Array("float64", prints.shape, prints.tobytes()),
    }
