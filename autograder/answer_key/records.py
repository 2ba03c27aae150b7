"""The reference's trace as a plain value: what a student's trace is held against, and no text or names of the code.

Steps and fingerprints are columns of whole numbers. A fingerprint is rounded to steps of its own size, far below the
tolerance of a match, and is stored once.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.checks import Judge, Like, Same
from autograder.comparison import (
    ArraySketch,
    Expected,
    Sketch,
    as_array,
    is_close,
    is_floating,
    numbers,
    special,
    step_of,
    sums_of,
    with_parts,
    wrong,
)
from autograder.protocol import COUNTS, WIDTH, Array, Fingerprints, Opaque, Value
from autograder.runner import RecordedTrace, TraceStep, read_trace

# Whole numbers as bytes sorted by weight, so that similar bytes lie together and compress well.

LARGEST = float(1 << 30)
"""Numbers beyond this are cut: more do not fit."""


def to_planes(numbers: NDArray[Any]) -> Array:
    """Return whole numbers, in C order, as an array of bytes (4, N), the heaviest last."""
    whole = np.clip(numbers, -LARGEST, LARGEST).astype("<i4").reshape(-1)
    folded = ((whole << 1) ^ (whole >> 31)).view("<u4")  # the sign last, so that small numbers have small bytes
    planes = np.ascontiguousarray(folded.view("u1").reshape(-1, 4).T)
    return Array("uint8", planes.shape, planes.tobytes())


def from_planes(planes: Any) -> NDArray[np.int64]:
    """Return the numbers that `to_planes` made an array of. Raises AttributeError or ValueError."""
    folded = np.ascontiguousarray(np.frombuffer(planes.data, "u1").reshape(4, -1).T).view("<u4").reshape(-1)
    whole: NDArray[np.int64] = ((folded >> 1).astype("<i4") ^ -(folded & 1).astype("<i4")).astype(np.int64)
    return whole


BITS = 15
"""A step is so many bits smaller than the row: the rounding is a third of the judge's tolerance."""

SIZE_COLUMN = 5
SMALLEST = 1e-6
COUNTED = len(range(WIDTH)[COUNTS])

Whole = NDArray[np.int64]


def to_record(trace: RecordedTrace, file: str) -> Value:
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


def _kind(step: TraceStep, count: int) -> tuple[str, int | None, tuple[int, ...], str, bool, int]:
    line = step.stack[0].line if step.stack else None
    return step.name, line, step.shape, step.dtype, step.grad, count


def from_record(record: Any) -> RecordedTrace:
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


# The sketches of a catalogue as columns of a table: each is stored once, and similar numbers lie together.

ARRAY = Opaque("")
"""What stands for an array in a value; no type has this name."""


class SketchTable:
    """Collects sketches, each under an index."""

    def __init__(self) -> None:
        self._indices: dict[str, int] = {}
        self._arrays: dict[ArraySketch, int] = {}
        self._rows: list[Value] = []

    def index(self, sketch: Sketch | None) -> int:
        """Return the index of a sketch, which is added unless it is there."""
        row = None if sketch is None else self._row(sketch)
        known = repr(row)
        if known not in self._indices:
            self._indices[known] = len(self._rows)
            self._rows.append(row)
        return self._indices[known]

    def _row(self, sketch: Sketch) -> Value:
        if sketch.fault is not None:
            return {"fault": list(sketch.fault)}
        arrays: list[int] = []

        def without_array(part: Value) -> Value:
            if isinstance(part, ArraySketch):
                arrays.append(self._arrays.setdefault(part, len(self._arrays)))
                return ARRAY
            return part

        return {"value": with_parts(without_array, sketch.value), "arrays": arrays, "judged": sketch.judged}

    def to_record(self) -> Value:
        """Return the table as a plain value."""
        arrays = list(self._arrays)
        forms = {form: index for index, form in enumerate(dict.fromkeys(map(_form, arrays)))}
        digests = {digest: index for index, digest in enumerate(dict.fromkeys(array.digest for array in arrays))}
        offs = np.array([array.off for array in arrays], "<f8")
        steps = [np.array(array.sums) / step_of(array.off) for array in arrays if array.off]
        return {
            "rows": self._rows,
            "forms": [[dtype, list(shape), device] for dtype, shape, device in forms],
            "form": to_planes(np.array([forms[_form(array)] for array in arrays])),
            "digests": list(digests),
            "digest": to_planes(np.array([digests[array.digest] for array in arrays])),
            "off": Array("float64", offs.shape, offs.tobytes()),
            "sums": to_planes(np.concatenate([[], *steps])),
        }


def _form(array: ArraySketch) -> tuple[str, tuple[int, ...], str]:
    return array.dtype, array.shape, array.device


def read_sketches(record: Any) -> list[Sketch | None]:
    """Return the sketches of a table, by index. Raises LookupError, TypeError or ValueError."""
    arrays = list(_arrays(record))
    return [_sketch(row, arrays) for row in record["rows"]]


def _arrays(record: Any) -> Iterator[ArraySketch]:
    offs = np.frombuffer(record["off"].data, "<f8")
    steps, start = from_planes(record["sums"]), 0
    for form, digest, off in zip(from_planes(record["form"]), from_planes(record["digest"]), offs, strict=True):
        dtype, shape, device = record["forms"][form]
        count = sums_of(shape) if off else 0
        sums = steps[start : start + count] * step_of(off) if off else np.empty(0)
        start += count
        yield ArraySketch(dtype, tuple(shape), device, record["digests"][digest], float(off), tuple(sums.tolist()))


def _sketch(row: Any, arrays: Sequence[ArraySketch]) -> Sketch | None:
    if row is None:
        return None
    if "fault" in row:
        type_, message = row["fault"]
        return Sketch(fault=(type_, message))
    own = (arrays[index] for index in row["arrays"])
    return Sketch(with_parts(lambda part: next(own) if part == ARRAY else part, row["value"]), judged=row["judged"])


# Rounds what a solution returns in float64 to float32, as every answer key holds it.
#
# So the same numbers judge a program in a course and in a kit, whose key must be small. A number is changed by at
# most 6e-8 of itself; right programs differ by more in float32, and judges allow 1e-6 and more.

OTHERWISE_DRAWN = 0.05
"""Two observations that differ by more differ by other random numbers: rounding to bfloat16 changes less than this."""

SMALLEST_TOLERANCE = 1e-6
"""A check that allows less gets the numbers as they are, and so does a judge of the course's own."""


def rounded(nominal: Value, exact: Value, judge: Judge) -> Expected:
    """Return what is expected, with the numbers of both observations rounded alike."""
    strict = isinstance(judge, Same | Like) and judge.tolerance is not None and judge.tolerance < SMALLEST_TOLERANCE
    short = exact if strict or callable(judge) else with_parts(_short, exact)
    return Expected(_from_exact(nominal, short), short)


def keep_draws(nominal: Value, exact: Value) -> Value:
    """Return the exact observation, but the nominal one where the two differ by more than rounding.

    `exact` was computed on the CPU, and the device of `nominal` draws other random numbers.
    """
    if isinstance(nominal, dict) and isinstance(exact, dict) and nominal.keys() == exact.keys():
        return {name: keep_draws(part, exact[name]) for name, part in nominal.items()}
    if isinstance(nominal, list) and isinstance(exact, list) and len(nominal) == len(exact):
        return [keep_draws(*pair) for pair in zip(nominal, exact, strict=True)]
    if isinstance(nominal, Array) and isinstance(exact, Array) and nominal.shape == exact.shape:
        return nominal if wrong(numbers(nominal), numbers(exact), OTHERWISE_DRAWN).any() else exact
    if isinstance(nominal, float) and isinstance(exact, float):
        return exact if is_close(nominal, exact, OTHERWISE_DRAWN) else nominal
    return exact if nominal == exact else nominal


def _short(value: Value) -> Value:
    """Return a float64 array as float32, if every number stays finite, infinite, zero or NaN."""
    if not isinstance(value, Array) or value.dtype != "float64":
        return value
    long, short = numbers(value), as_array(numbers(value), "float32", value.device)
    same = (special(numbers(short)) == special(long)) & ((numbers(short) == 0) == (long == 0))
    return short if same.all() else value


def _from_exact(nominal: Value, exact: Value) -> Value:
    """Return the nominal observation with the exact numbers, so that a kit needs them once only."""
    if isinstance(nominal, dict) and isinstance(exact, dict) and nominal.keys() == exact.keys():
        return {name: _from_exact(part, exact[name]) for name, part in nominal.items()}
    if isinstance(nominal, list) and isinstance(exact, list) and len(nominal) == len(exact):
        return [_from_exact(*pair) for pair in zip(nominal, exact, strict=True)]
    if isinstance(nominal, float) and isinstance(exact, float):
        return exact
    if not isinstance(nominal, Array) or not isinstance(exact, Array) or nominal.shape != exact.shape:
        return nominal
    if not is_floating(nominal):
        return nominal
    made = as_array(numbers(exact), nominal.dtype, nominal.device)
    return made if (special(numbers(made)) == special(numbers(nominal))).all() else nominal
