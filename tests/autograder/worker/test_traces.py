"""Traces: what fingerprints distinguish, and that the judge refuses or survives any trace of a hostile worker."""

from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from autograder.answer_key.records import from_record, to_record
from autograder.diagnosis import Deadline, first_divergence
from autograder.diagnosis.judgement import StepState
from autograder.protocol import (
    WIDTH,
    Array,
    factors,
    fingerprint,
    part_fingerprints,
    part_shapes,
    same_order,
    same_values,
)
from autograder.protocol.fingerprints import MOST_PARTS
from autograder.runner import RecordedTrace, read_trace
from tests.support.fuzzing import bounded

FILE = "ex01_first.py"
Numbers: TypeAlias = NDArray[np.float64]


def trace_data(steps: list[list[object]], prints: int = 4) -> dict[str, object]:
    """Return a trace as a worker sends it, with so many fingerprints of random numbers."""
    numbers = np.random.RandomState(0).standard_normal((prints, WIDTH))
    return {
        "files": [FILE],
        "places": [[0, "double", 3, 3, 4, 9], [0, "double", 4, 5, 0, 2]],
        "steps": steps,
        "results": [len(steps) - 1] if steps else [],
        "prints": Array("float64", numbers.shape, numbers.astype("<f8").tobytes()),
    }


STEP: list[object] = ["mul", [0], [], [2, 3], "float32", False, [0, 1], None]


@given(st.lists(st.floats(-100, 100), min_size=6, max_size=60))
def test_a_fingerprint_recognises_the_same_numbers_in_another_order(values: list[float]) -> None:
    one = np.array(values)
    moved = np.random.RandomState(len(values)).permutation(one)
    prints = np.stack([fingerprint(one), fingerprint(moved)])
    assert same_values(prints[0], prints, 1e-6).all()
    assert same_order(prints[0], prints, 1e-6)[0]
    if np.abs(one - moved).max() > 1e-3 * max(np.abs(one).max(), 1):
        assert not same_order(prints[0], prints, 1e-9)[1]


def test_a_fingerprint_recognises_a_factor_and_nothing_else() -> None:
    values = np.random.RandomState(1).standard_normal((5, 7))
    prints = np.stack([fingerprint(values), fingerprint(values.T), fingerprint(values + 1)])
    found = factors(fingerprint(2.5 * values), prints, 1e-6)
    assert found[0] == pytest.approx(2.5)
    assert np.isnan(found[1:]).all()


def test_what_a_mask_is_filled_with_makes_no_difference() -> None:
    scores = np.random.RandomState(2).standard_normal((4, 6))
    hidden = scores > 0.5
    lowest, infinite = (fingerprint(np.where(hidden, fill, scores)) for fill in (np.finfo(np.float32).min, -np.inf))
    assert (lowest == infinite).all()


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4), (2, 3, 4, 5), (30, 2, 2, 2), ()])
def test_the_parts_of_an_array_are_its_slices(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).normal(size=shape)
    loops = [values, np.moveaxis(values, 1, 0)] if values.ndim > 2 else []
    loops += [values.reshape(-1, *shape[2:])] if values.ndim > 3 else []
    slices = [part for loop in loops for part in loop[:MOST_PARTS]]
    assert [one.shape for one in slices] == part_shapes(shape)
    found = [*part_fingerprints(values)]
    assert len(found) == len(slices)
    assert all(np.allclose(one, fingerprint(part), atol=1e-12) for one, part in zip(found, slices, strict=True))


@pytest.mark.parametrize(
    "steps",
    [
        [["mul", [0], [0], [2], "float32", False, [0, 1], None]],  # made of itself
        [["mul", [0], [-1], [2], "float32", False, [0, 1], None]],
        [["mul", [7], [], [2], "float32", False, [0, 1], None]],  # a place that is not there
        [["mul", [-1], [], [2], "float32", False, [0, 1], None]],
        [["mul", [0], [], [2], "float32", False, [3, 2], None]],  # a fingerprint that is not there
        [["mul", [0], [], [2], "float32", False, [0, 0], None]],
        [["mul", [0], [], ["x"], "float32", False, [0, 1], None]],
        [["mul"]],
        ["mul"],
        [None],
    ],
)
def test_a_trace_that_makes_no_sense_is_refused(steps: list[list[object]]) -> None:
    with pytest.raises((ValueError, TypeError, KeyError, IndexError)):
        read_trace(trace_data(steps))


def test_fingerprints_of_another_form_are_refused() -> None:
    for array in (Array("float64", (1, 3), bytes(24)), Array("float32", (1, WIDTH), bytes(4 * WIDTH)), None):
        with pytest.raises(ValueError, match="the wrong form"):
            read_trace({**trace_data([STEP]), "prints": array})


def test_numbers_beyond_all_measure_are_cut() -> None:
    huge = np.full((4, WIDTH), np.inf).astype("<f8")
    trace = read_trace({**trace_data([STEP]), "prints": Array("float64", huge.shape, huge.tobytes())})
    with np.errstate(all="raise"):
        assert first_divergence(trace, read_trace(trace_data([STEP])), FILE, (), Deadline(60)) is not None


def test_what_is_kept_of_a_trace_has_lines_and_no_names() -> None:
    kept = to_record(read_trace(trace_data([STEP])), FILE)
    assert "double" not in repr(kept)
    assert FILE not in repr(kept)
    assert from_record(kept).steps[0].stack[0].line == 3


@st.composite
def traces(trial: st.DrawFn) -> RecordedTrace:
    """Draw a trace of any structure, in which every step may be made of any before."""
    count = trial(st.integers(1, 40))
    steps: list[list[object]] = []
    for at in range(count):
        inputs = trial(st.lists(st.integers(0, at - 1), max_size=8)) if at else []
        stack = trial(st.sampled_from([[], [0], [1], [0, 1]]))
        name = trial(st.sampled_from(["mul", "view", "__setitem__", "empty", "to", "softmax"]))
        shape = trial(st.sampled_from([[2, 3], [3, 2], [1, 6], [], [4]]))
        steps.append(
            [name, stack, inputs, shape, trial(st.sampled_from(["float32", "bool"])), at % 2 == 0, [at % 4, 1], None]
        )
    return read_trace(trace_data(steps))


@pytest.mark.long
@bounded(200)
@given(traces(), traces())
def test_any_two_traces_can_be_held_against_each_other(one: RecordedTrace, other: RecordedTrace) -> None:
    found = first_divergence(one, other, FILE, (), Deadline(60))
    assert found is None or found.place.file == FILE


def test_steps_made_of_all_before_them_take_no_time_without_end() -> None:
    every: list[list[object]] = [
        ["mul", [0], list(range(max(0, at - 8), at)), [5], "float32", False, [at % 4, 1], None] for at in range(700)
    ]
    found = first_divergence(read_trace(trace_data(every)), read_trace(trace_data([STEP])), FILE, (), Deadline(60))
    assert found is not None
    assert found.place.line == 3


Made: TypeAlias = tuple[str, list[int], list[int], Numbers]
"""A step: its operation, where it is made, what it is made of, and its numbers."""


def trace_of(*steps: Made, dtype: str = "float32") -> RecordedTrace:
    """Return a trace of steps on two lines; the last one is the result."""
    prints = np.stack([fingerprint(step[3]) for step in steps]).astype("<f8")
    data: list[list[object]] = [
        [name, stack, inputs, list(numbers.shape), dtype, False, [at, 1], None]
        for at, (name, stack, inputs, numbers) in enumerate(steps)
    ]
    return read_trace({**trace_data(data), "prints": Array("float64", prints.shape, prints.tobytes())})


@pytest.mark.parametrize(("back", "factor"), [("mul", None), ("add", pytest.approx(8))])
def test_a_factor_that_a_later_operation_takes_back_is_no_finding(back: str, factor: float | None) -> None:
    start, values, wrong, right = np.random.RandomState(2).uniform(1, 2, (4, 2, 7))

    by_check: Made = ("randn", [], [], start)
    reference = trace_of(("sqrt", [0], [], values), by_check, ("add", [0], [1], right))
    later = wrong if back == "add" else values
    mine = trace_of(by_check, ("norm", [0], [0], 8 * values), (back, [0], [1], later), ("add", [1], [2], 3 * wrong))
    found = first_divergence(mine, reference, FILE, (), Deadline(60))
    assert found is not None
    assert found.factor == factor


@pytest.mark.parametrize(("dtype", "factor"), [("float32", pytest.approx(0.5)), ("bfloat16", None)])
def test_no_factor_is_found_within_the_tolerance_of_half_precision(dtype: str, factor: float | None) -> None:
    start, right = np.random.RandomState(3).uniform(1, 2, (2, 2, 7))
    by_check: Made = ("randn", [], [], start)
    mine = trace_of(by_check, ("mul", [0], [0], right / 2), dtype=dtype)
    found = first_divergence(mine, trace_of(by_check, ("mul", [0], [0], right)), FILE, (), Deadline(60))
    assert found is not None
    assert found.factor == factor


@pytest.mark.parametrize(("width", "agreeing"), [(7, (3,)), (8, ())])
def test_room_of_another_size_than_the_solution_s_is_not_as_expected(width: int, agreeing: tuple[int, ...]) -> None:
    start, right, wrong = np.random.RandomState(4).uniform(1, 2, (3, 2, 7))
    by_check: Made = ("randn", [], [], start)
    reference = trace_of(by_check, ("new_zeros", [0], [], np.zeros((2, 7))), ("add", [1], [0, 1], right))
    mine = trace_of(by_check, ("new_zeros", [0], [], np.zeros((2, width))), ("add", [1], [0, 1], wrong))
    found = first_divergence(mine, reference, FILE, (), Deadline(60))
    assert found is not None
    assert (found.place.line, found.agreeing) == (4, agreeing)


@pytest.mark.parametrize("line", [0, 1])
def test_a_value_that_the_solution_computes_on_two_lines_is_not_one_too_many(line: int) -> None:
    start, other, right = np.random.RandomState(5).uniform(1, 2, (3, 2, 7))
    by_check: Made = ("randn", [], [], start)
    own: tuple[Made, Made] = (("linear", [0], [0], other), ("linear", [1], [0], other))
    mine = trace_of(by_check, *own)
    reference = trace_of(by_check, own[0], ("linear", [line], [0], other), ("mul", [1], [1], right))
    found = first_divergence(mine, reference, FILE, (), Deadline(60))
    assert (found.state if found else None) is (StepState.MISUSED if line == 0 else None)
