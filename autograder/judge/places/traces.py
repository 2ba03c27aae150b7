"""What a program computed on its way, as the judge holds it: the steps of one probe, with fingerprints for values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.protocol import Array, Value
from autograder.protocol.prints import WIDTH, Prints
from autograder.report import Place

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


def read_trace(data: Mapping[str, Any]) -> Trace:
    """Return the trace a worker told of; raises LookupError, TypeError or ValueError for nonsense."""
    prints = _prints(data["prints"])
    files = [str(each) for each in data["files"]]
    places = [_place(each, files) for each in data["places"]]
    steps = tuple(_step(each, at, places, len(prints)) for at, each in enumerate(data["steps"]))
    results = tuple(int(each) for each in data["results"])
    if not all(0 <= each < len(steps) for each in results):
        raise ValueError("a result of no step")
    return Trace(steps, prints, results)


def _prints(array: Any) -> Prints:
    if not isinstance(array, Array) or array.dtype != "float64" or array.shape[1:] != (WIDTH,):
        raise ValueError("fingerprints of another form")
    numbers = np.nan_to_num(np.frombuffer(array.data, dtype="<f8").reshape(array.shape))
    found: Prints = np.clip(numbers, -LARGEST, LARGEST)
    return found


def _step(data: Any, at: int, places: list[Place], prints: int) -> Step:
    name, stack, inputs, shape, dtype, grad, (first, count), number = data
    earlier = tuple(int(each) for each in inputs)
    if not all(0 <= each < at for each in earlier) or not 0 <= first < first + count <= prints:
        raise ValueError("a step that points nowhere")
    return Step(
        str(name)[:60],
        tuple(places[_not_negative(each)] for each in stack),
        earlier,
        tuple(int(each) for each in shape),
        str(dtype)[:20],
        grad is True,
        (int(first), int(count)),
        (str(number[0])[:60], float(number[1])) if number is not None else None,
    )


def _not_negative(number: Any) -> int:
    if not isinstance(number, int) or number < 0:
        raise ValueError("a place of no number")
    return number


def _place(data: Any, files: list[str]) -> Place:
    file, function, line, end_line, column, end = data
    one_line = int(line) == int(end_line) and column is not None and end is not None
    columns = (int(column), int(end)) if one_line else (None, None)
    return Place(files[_not_negative(file)], int(line), str(function)[:100], *columns)


def to_record(trace: Trace) -> Value:
    """Return what is kept of the reference's trace: no text of the solution, of a place the number of the line only."""
    prints = trace.prints.astype("<f8")
    lines = sorted({each.stack[0].line for each in trace.steps if each.stack})
    return {
        "files": [""],
        "places": [[0, "", line, line, None, None] for line in lines],
        "steps": [
            [
                each.name,
                [lines.index(each.stack[0].line)] if each.stack else [],
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
