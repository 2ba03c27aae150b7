"""The sketches of a catalogue as columns of a table: each is stored once, and similar numbers lie together."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograder.answer_key.planes import from_planes, to_planes
from autograder.comparison.sketches import ArraySketch, Sketch, step_of, sums_of
from autograder.protocol import Array, Opaque, Value

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
        return {"value": self._without_arrays(sketch.value, arrays), "arrays": arrays, "judged": sketch.judged}

    def _without_arrays(self, value: Value, arrays: list[int]) -> Value:
        """Return a value with `ARRAY` in place of its arrays, whose indices are added to `arrays`."""
        match value:
            case ArraySketch():
                arrays.append(self._arrays.setdefault(value, len(self._arrays)))
                return ARRAY
            case dict():
                return {name: self._without_arrays(part, arrays) for name, part in value.items()}
            case list():
                return [self._without_arrays(part, arrays) for part in value]
        return value

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
    return Sketch(_with_arrays(row["value"], own), judged=row["judged"])


def _with_arrays(value: Any, arrays: Iterator[ArraySketch]) -> Any:
    if value == ARRAY:
        return next(arrays)
    if isinstance(value, dict):
        return {name: _with_arrays(part, arrays) for name, part in value.items()}
    if isinstance(value, list):
        return [_with_arrays(part, arrays) for part in value]
    return value
