"""The reference's trace as a plain value: what a student's trace is held against, and no text or names of the code.

Steps and fingerprints are columns of whole numbers. A fingerprint is rounded to steps of its own size, far below the
tolerance of a match, and is stored once.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.answer_key.planes import from_planes, to_planes
from autograder.protocol import Array, Value
from autograder.protocol.fingerprints import COUNTS, WIDTH, Fingerprints
from autograder.runner.traces import Step, Trace, read_trace

BITS = 15
"""A step is so many bits smaller than the row: the rounding is a third of the judge's tolerance."""

SIZE_COLUMN = 5
SMALLEST = 1e-6
COUNTED = len(range(WIDTH)[COUNTS])

Whole = NDArray[np.int64]


def to_record(trace: Trace, file: str) -> Value:
    """Return a trace of the solution in a file, of which only the steps made in that file keep their slices.

    Nothing is compared with the slices of what the check made. Earlier exercises are not what is located here.
    """
    counts = [step.prints[1] if step.stack and step.stack[0].file == file else 1 for step in trace.steps]
    described = [_kind(step, count) for step, count in zip(trace.steps, counts, strict=True)]
    kinds = {kind: index for index, kind in enumerate(dict.fromkeys(described))}
    kept = [step.prints[0] + at for step, count in zip(trace.steps, counts, strict=True) for at in range(count)]
    unique, rows = _unique(_to_steps(trace.prints[kept]))
    return {
        "kinds": [[name, line, list(shape), dtype, grad, count] for name, line, shape, dtype, grad, count in kinds],
        "kind": to_planes(np.array([kinds[kind] for kind in described])),
        "inputs": to_planes(np.array([len(step.inputs) for step in trace.steps])),
        "input": to_planes(np.array([at - index for at, step in enumerate(trace.steps) for index in step.inputs])),
        "results": list(trace.results),
        "rows": to_planes(rows),
        "prints": to_planes(unique.T),
    }


def _kind(step: Step, count: int) -> tuple[str, int | None, tuple[int, ...], str, bool, int]:
    line = step.stack[0].line if step.stack else None
    return step.name, line, step.shape, step.dtype, step.grad, count


def from_record(record: Any) -> Trace:
    """Return the trace a plain value was made from; raises LookupError, TypeError or ValueError for another one."""
    unique = from_planes(record["prints"]).reshape(WIDTH + 1, -1).T
    prints = _from_steps(unique[from_planes(record["rows"])])
    lines = sorted({kind[1] for kind in record["kinds"] if kind[1] is not None})
    return read_trace(
        {
            "files": [""],
            "places": [[0, "", line, line, None, None] for line in lines],
            "steps": list(_steps(record, {line: index for index, line in enumerate(lines)})),
            "results": record["results"],
            "prints": Array("float64", prints.shape, prints.tobytes()),
        }
    )


def _steps(record: Any, places: dict[int, int]) -> Iterator[list[Any]]:
    inputs, start, first = from_planes(record["input"]).tolist(), 0, 0
    kinds, counts = from_planes(record["kind"]).tolist(), from_planes(record["inputs"]).tolist()
    for at, (kind, used) in enumerate(zip(kinds, counts, strict=True)):
        name, line, shape, dtype, grad, count = record["kinds"][kind]
        stack = [] if line is None else [places[line]]
        made_of = [at - back for back in inputs[start : start + used]]
        yield [name, stack, made_of, shape, dtype, grad, [first, count], None]
        start, first = start + used, first + count


def _to_steps(prints: Fingerprints) -> Whole:
    """Return fingerprints (N, WIDTH) as whole numbers: the counts, the exponent of the step, and the steps."""
    size = np.maximum(np.abs(prints[:, SIZE_COLUMN]), SMALLEST)
    exponents = np.floor(np.log2(size)) - BITS
    steps = np.rint(prints[:, COUNTED:] / np.exp2(exponents)[:, None])
    whole: Whole = np.concatenate([prints[:, COUNTS], exponents[:, None], steps], axis=1).astype(np.int64)
    return whole


def _from_steps(whole: Whole) -> Fingerprints:
    steps = whole[:, COUNTED + 1 :] * np.exp2(whole[:, COUNTED])[:, None]
    return np.concatenate([whole[:, :COUNTED], steps], axis=1).astype("<f8")


def _unique(rows: Whole) -> tuple[Whole, Whole]:
    """Return the rows that differ, in the order in which they first occur, and the index of each row among them."""
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return rows[first[order]], np.argsort(order)[inverse.reshape(-1)]
