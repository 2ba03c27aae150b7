"""Sketches of wrong programs: they recognise what the whole arrays would, and nothing else."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from autograder.answer_key.records import SketchTable, read_sketches
from autograder.checks import Judge, Like, Raises, Same
from autograder.comparison import Expected, Sketch, as_array, is_same, numbers, sketch
from autograder.comparison.compare import TOLERANCES, compare
from autograder.comparison.float_arrays import SUMS
from autograder.protocol import Array, Value
from autograder.runner import Fault, Observed, WorkerFailure
from tests.support.observations import observed

NOTHING = Expected(None, None)


def same(mine: Value, theirs: Value, judge: Judge | None = None) -> bool:
    """Say whether a value is recognised by the sketch of another, which went through the file of a key."""
    judge = judge or Same()
    return is_same(Observed(mine), kept(sketch(Observed(theirs), judge, NOTHING)), judge, NOTHING, {})


def kept(found: Sketch | None) -> Sketch | None:
    table = SketchTable()
    index = table.index(found)
    again = read_sketches(table.to_record())[index]
    assert again == found
    return again


@pytest.mark.long
@settings(deadline=None, max_examples=300)
@given(
    some.sampled_from([(3,), (16,), (17,), (5, 7), (3, 7, 12), (2, 3, 5, 18)]),
    some.sampled_from(sorted(TOLERANCES)),
    some.floats(-4, 4),
    some.floats(-2, 3),
    some.integers(0, 1 << 30),
)
def test_a_sketch_decides_as_the_whole_array_near_the_tolerance(
    shape: Sequence[int], dtype: str, size: float, nearness: float, seed: int
) -> None:
    """Every number is off by about `10**nearness` times the tolerance: sketch and array agree but for a narrow band."""
    random = np.random.default_rng(seed)
    right = numbers(as_array(random.standard_normal(shape) * 10**size, dtype, "cpu"))
    allowed = TOLERANCES[dtype] * max(np.abs(right).max(), 1e-3)
    off = random.standard_normal(shape) * allowed * 10**nearness
    theirs, mine = as_array(right, dtype, "cpu"), as_array(right + off, dtype, "cpu")
    largest = np.abs(numbers(mine) - right).max() / allowed
    if largest < 0.25:
        assert same(mine, theirs)
    if largest > 8:
        assert not same(mine, theirs)
    if not 0.25 <= largest <= 8:
        assert same(mine, theirs) == (compare(mine, Expected(theirs, theirs), Same()) is None)


@pytest.mark.parametrize("count", [1, 15, 16, 17, 500, 3000])
def test_one_wrong_number_among_many_is_seen(count: int) -> None:
    right = np.random.default_rng(count).standard_normal(count)
    for at in range(0, count, max(1, count // 40)):
        wrong = right.copy()
        wrong[at] += 1e-3 * np.abs(right).max()
        assert not same(observed(wrong), observed(right)), at


def test_numbers_in_another_order_are_another_result() -> None:
    right = np.random.default_rng(0).standard_normal((4, 6, 10))
    orders: list[Any] = [right[::-1], right[:, ::-1], right[..., ::-1], right.reshape(6, 4, 10).transpose(1, 0, 2)]
    swapped = right.copy()
    swapped[0, 0, :2] = right[0, 0, 1::-1]
    apart = right.copy().reshape(-1)
    apart[[0, SUMS]] = apart[[SUMS, 0]]  # two numbers of one sum
    for other in (*orders, swapped, apart.reshape(right.shape)):
        assert not same(observed(other), observed(right))


def test_the_form_and_everything_special_count_to_the_last_bit() -> None:
    right = np.arange(40.0).reshape(4, 10)
    odd = right.copy()
    odd[1, 2], odd[2, 3] = np.nan, -np.inf
    moved, turned = odd.copy(), odd.copy()
    moved[1, [2, 4]] = moved[1, [4, 2]]
    turned[2, 3] = np.inf
    assert same(observed(odd), observed(odd))
    for other in (right, moved, turned, odd.T):
        assert not same(observed(other), observed(odd))
    assert not same(observed(right, "float64"), observed(right))
    assert not same(Array("float32", (4, 10), observed(right).data, "cuda:0"), observed(right))
    whole = np.arange(100)
    assert same(observed(whole), observed(whole))
    assert not same(observed(np.where(whole == 50, 51, whole)), observed(whole))


def test_the_largest_numbers_have_a_sketch() -> None:
    huge = np.full((5, 9), 1.7e308)
    assert same(observed(huge, "float64"), observed(huge, "float64"))
    assert not same(observed(-huge, "float64"), observed(huge, "float64"))
    assert same(observed(np.empty((0, 3))), observed(np.empty((0, 3))))


def test_values_without_arrays_are_compared_as_they_are() -> None:
    values: list[Value] = [None, True, 1, 1.0, "a", [], [1], {}, {"a": 1.0}, {"a": None}, [1, [2.5]], math.inf]
    for mine in values:
        assert [same(mine, theirs) for theirs in values].count(True) == 1
        assert same(mine, mine)
    assert same(math.nan, math.nan)
    assert same(0.1 + 1e-7, 0.1)
    assert not same(0.1 + 1e-5, 0.1)


def test_exceptions_are_known_by_type_and_message_and_crashes_by_nothing() -> None:
    fault = Fault("ValueError", ("ValueError",), "a size", "other", ())
    known = kept(sketch(fault, Same(), NOTHING))
    assert is_same(fault, known, Same(), NOTHING, {})
    assert not is_same(Observed(None), known, Same(), NOTHING, {})
    assert not is_same(Fault("ValueError", (), "another", "other", ()), known, Same(), NOTHING, {})
    crash = WorkerFailure("error", "It ended.")
    assert not is_same(crash, kept(sketch(crash, Same(), NOTHING)), Same(), NOTHING, {})
    raised = {"raised": ["KeyError"], "message": "one"}
    assert same({**raised, "message": "another"}, raised, Raises(("KeyError",)))
    assert not same({"raised": [], "returned": "one"}, {"raised": [], "returned": "two"}, Raises())


@pytest.mark.parametrize(
    ("kind", "type_", "mine", "theirs", "is_known"),
    [
        ("device", "DeviceMixError", "where: a (3, 5)", "masked_fill: a (3, 5)", True),
        ("device", "DeviceMixError", "where: a (3, 5)", "masked_fill: a (5, 5)", False),
        ("device", "DeviceMixError", "mv: a (5,)", "mul: a (5,)", False),
        ("other", "ValueError", "15 positions are more than 14 rows", "15 for a table that ends after 14", True),
        ("other", "ValueError", "14 rows are fewer than 15 positions", "15 for a table that ends after 14", False),
        ("other", "RuntimeError", "size (7) must match size (8)", "sizes of 7 and 8 do not fit", False),
        ("structure", "StructureError", "encoder.weight is (7, 8)", "decoder.weight is (7, 8)", False),
    ],
)
def test_an_exception_is_known_by_its_numbers_in_other_words(
    kind: Any, type_: str, mine: str, theirs: str, is_known: bool
) -> None:
    known = kept(sketch(Fault(type_, (), theirs, kind, ()), Same(), NOTHING))
    assert is_same(Fault(type_, (), mine, kind, ()), known, Same(), NOTHING, {}) is is_known


def test_parts_that_each_program_may_choose_need_only_be_finite_alike() -> None:
    judge = Like(free=("blocked", "slope"))
    theirs: Value = {"rows": observed([1.0, 2.0]), "blocked": observed([3.0, 4.0]), "slope": 1.5}

    def mine(**other: Value) -> Value:
        assert isinstance(theirs, dict)
        return {**theirs, **other}

    assert same(mine(blocked=observed([5.0, 6.0]), slope=2.5), theirs, judge)
    assert not same(mine(rows=observed([1.0, 3.0])), theirs, judge)
    assert not same(mine(blocked=observed([math.nan, 4.0])), theirs, judge)
    assert not same(mine(slope=math.nan), theirs, judge)
    assert not same(mine(blocked=observed([5.0, 6.0])), theirs)


def test_a_judge_of_the_course_recognises_random_results_by_what_it_says() -> None:
    def judge(yours: Any, expected: Any) -> str | None:
        return None if yours >= expected else f"it is {'far' if yours < 0 else 'just'} below"

    expected = Expected(5.0, 5.0)
    known = kept(sketch(Observed(3.0), judge, expected))
    assert is_same(Observed(4.0), known, judge, expected, {})
    assert not is_same(Observed(-4.0), known, judge, expected, {})
    assert not is_same(Observed(6.0), known, judge, expected, {})
