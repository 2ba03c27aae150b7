"""The public answer key of a kit: rounded to what a judge can distinguish, and compressed.

Rounding removes at most a third of the judge's tolerance. Numbers that the judge never reads are zero.
"""

import lzma
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from autograder.answer_key.digests import to_steps
from autograder.answer_key.model import AnswerKey, Misconception, to_record
from autograder.checks.trials import Key
from autograder.comparison.compare import Expected
from autograder.protocol import Array, Value, write_frame
from autograder.runner.outcomes import Observed, Outcome
from autograder.runner.traces import Trace
from autograder.runner.traces import to_record as to_traced

EXACT_BITS, FLOAT32_BITS = 24, 16
"""The bits kept below the largest number of an array: for exact references, and for float32 results."""

ROUNDED = {"float64": EXACT_BITS, "float32": FLOAT32_BITS}
SMALLEST = 1e-6
"""Numbers below this are within every tolerance, so an array of them gets no finer steps."""

Numbers = NDArray[np.float64]


def packed_key(key: AnswerKey) -> bytes:
    """Return the key of an exercise for a kit; equal keys give equal bytes."""
    reference = {
        at: Expected(_blank(expected.nominal, expected.exact), _every(expected.exact, _exact))
        for at, expected in _of(key)
    }
    catalogue = tuple(_entry(entry) for entry in key.misconceptions)
    return _packed(to_record(AnswerKey(reference, catalogue)), align=2)


def packed_traces(traces: Mapping[Key, Trace]) -> bytes:
    """Return the intermediate results of the solution under one check, for a kit."""
    return _packed([[trial, _trace(trace)] for (_, trial), trace in sorted(traces.items())], align=0)


def _of(key: AnswerKey) -> list[tuple[Key, Expected]]:
    return sorted(key.reference.items())


def _entry(entry: Misconception) -> Misconception:
    return replace(entry, outcomes={at: _outcome(outcome) for at, outcome in sorted(entry.outcomes.items())})


def _outcome(outcome: Outcome) -> Outcome:
    """Return an outcome without its seconds, which differ in each run."""
    if isinstance(outcome, Observed):
        return Observed(_every(outcome.value, _wrong))
    return replace(outcome, seconds=0.0)


def _exact(array: Array) -> Array:
    return _rounded(array) if array.dtype == "float64" else array


def _wrong(array: Array) -> Array:
    """Round a float32 result of a wrong program; with another dtype, the dtype is the mistake."""
    return _rounded(array) if array.dtype == "float32" else array


def _blank(nominal: Value, exact: Value) -> Value:
    """Zero the nominal arrays with an exact counterpart: the judge reads only their shape, dtype and device."""
    if isinstance(nominal, Array) and isinstance(exact, Array) and nominal.dtype in ROUNDED:
        return replace(nominal, data=bytes(len(nominal.data)))
    if isinstance(nominal, dict) and isinstance(exact, dict):
        return {name: _blank(inner, exact[name]) for name, inner in nominal.items()}
    if isinstance(nominal, list) and isinstance(exact, list):
        return [_blank(one, other) for one, other in zip(nominal, exact, strict=True)]
    return nominal


def _every(value: Value, change: Callable[[Array], Array]) -> Value:
    if isinstance(value, Array):
        return change(value)
    if isinstance(value, dict):
        return {name: _every(inner, change) for name, inner in value.items()}
    if isinstance(value, list):
        return [_every(inner, change) for inner in value]
    return value


def _rounded(array: Array) -> Array:
    kind = f"<f{8 if array.dtype == 'float64' else 4}"
    numbers = np.frombuffer(array.data, kind)
    finite = np.abs(numbers[np.isfinite(numbers)]).astype(np.float64)
    rounded = _to_bits(numbers.astype(np.float64), finite.max(initial=0.0), ROUNDED[array.dtype])
    with np.errstate(over="ignore"):
        back = rounded.astype(kind)
    same = np.isfinite(back) & (
        (back != 0) | (numbers == 0)
    )  # rounding must not make a zero or an infinity: judges treat them specially
    return replace(array, data=np.where(same, back, numbers).astype(kind).tobytes())


def _trace(trace: Trace) -> Value:
    record = to_traced(trace)
    assert isinstance(record, dict)
    return {**record, "prints": to_steps(trace.prints)}


def _to_bits(numbers: Numbers, size: float, bits: int) -> Numbers:
    """Round to multiples of a power of two, `bits` below `size`; infinite results stay unrounded."""
    step = np.exp2(np.floor(np.log2(np.maximum(size, SMALLEST))) - bits)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded: Numbers = np.rint(numbers / step) * step
    return np.where(np.isfinite(rounded), rounded, numbers)


def _packed(record: Value, align: int) -> bytes:
    """Compress a record; `align` is the binary logarithm of the size in bytes of most of its numbers."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9, "lc": 0, "lp": align, "pb": align}]
    return lzma.compress(write_frame(record), format=lzma.FORMAT_XZ, filters=filters)
