"""No check can be passed with what is known without computing, and a worker never gets the seed of the run."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.authoring.oversights import fixed_sizes
from autograder.checks import Check, Key, Like, counted_checks, sizes_of
from autograder.comparison import Expected, is_floating, judge_observation
from autograder.course import Course, Exercise, Suite, load_suite, read_course
from autograder.protocol import Array, Value
from autograder.runner import Observed, Outcome, Runner

ROOT = Path(__file__).parents[3]
SEED = 7_312_904_518_663_027

Outcomes = Mapping[str, Mapping[Key, Outcome]]


def sources(course: Course) -> dict[str, bytes]:
    return {exercise.file: (course.solutions_dir / exercise.file).read_bytes() for exercise in course.exercises}


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite(fixed_sizes(read_course(ROOT)))


@pytest.fixture(scope="module")
def outcomes(suite: Suite) -> Outcomes:
    """What the solutions return."""
    with Runner(suite, seed=5, shared=True) as runner:
        return runner.run(sources(suite.course), suite.plan(suite.course.exercises)).outcomes


def every_check(suite: Suite) -> Iterator[tuple[Exercise, Check]]:
    for exercise in suite.course.exercises:
        for check in suite.checks[exercise.id]:
            yield exercise, check


def value(outcome: Outcome) -> Value:
    assert isinstance(outcome, Observed)
    return outcome.value


def made_up(sent: Value, number: float) -> Value:
    """Return an observation of the right form in which every number is the same, and every other part is right."""
    if isinstance(sent, Array):
        numbers = np.full(sent.shape, number).astype("f4" if sent.dtype == "bfloat16" else sent.dtype)
        data = (numbers.view("u4") >> 16).astype("<u2").tobytes() if sent.dtype == "bfloat16" else numbers.tobytes()
        return replace(sent, data=data)
    if isinstance(sent, dict):
        return {name: made_up(part, number) for name, part in sent.items()}
    if isinstance(sent, list):
        return [made_up(part, number) for part in sent]
    return float(number) if isinstance(sent, float) else sent


@pytest.mark.worker
@pytest.mark.parametrize("number", [0.0, 1.0])
def test_zeros_and_ones_earn_nothing_where_numbers_are_compared(
    suite: Suite, outcomes: Outcomes, number: float
) -> None:
    passing: dict[str, set[str]] = {}
    for exercise, check in every_check(suite):
        right = value(outcomes[exercise.id][check.id, 0])
        sent = made_up(right, number)
        has_numbers = sent != made_up(right, number + 1)
        if has_numbers and judge_observation(sent, Expected(right, right), check.judge) is None:
            passing.setdefault(exercise.id, set()).add(check.id)
    counted = {id_: counted_checks(list(suite.checks[id_]), found) & found for id_, found in passing.items()}
    assert not {id_: found for id_, found in counted.items() if found}


@pytest.mark.worker
def test_every_number_that_a_check_returns_has_a_name(suite: Suite, outcomes: Outcomes) -> None:
    nameless = set()
    for exercise, check in every_check(suite):
        right = value(outcomes[exercise.id][check.id, 0])
        if isinstance(right, list) and not any(isinstance(part, Array | dict | list) for part in right):
            nameless.add((exercise.id, check.id))  # a message could only say "item 2: 4, expected 10"
    assert nameless == set()


def observed(numbers: Any, dtype: str = "float32") -> Array:
    made = np.asarray(numbers).astype(dtype)
    return Array(dtype, made.shape, made.tobytes())


DRAWN = np.random.RandomState(3).standard_normal((4, 5))
LARGEST = DRAWN.max() == DRAWN
OTHER = np.random.RandomState(4).standard_normal((4, 5))


def like(yours: Value, expected: Value, judge: Like | None = None) -> str | None:
    found = judge_observation({"it": yours}, Expected({"it": expected}, {"it": expected}), judge or Like())
    return found.fact.says if found else None


def test_what_resembles_the_reference_is_enough() -> None:
    expected = observed(DRAWN)
    assert like(observed(3 * DRAWN + 2), expected) is None
    assert like(observed(-DRAWN), expected) is None
    assert "20 of 20 numbers differ" in str(like(observed(OTHER), expected))
    assert "20 of 20" in str(like(observed(np.zeros((4, 5))), expected))
    assert "shape (4, 4)" in str(like(observed(DRAWN[:, :4]), expected))
    assert "float64, expected float32" in str(like(observed(DRAWN, "float64"), expected))
    assert "1 of 20 numbers is NaN" in str(like(observed(np.where(LARGEST, np.nan, DRAWN)), expected))


def test_what_is_all_alike_has_to_be_just_that() -> None:
    expected = observed(np.full((4, 5), 0.25))
    assert like(observed(np.full((4, 5), 0.25)), expected) is None
    assert like(observed(np.full((4, 5), 0.5)), expected) is not None


def test_two_ways_have_to_agree_and_the_first_to_resemble_the_reference() -> None:
    expected: Value = [observed(DRAWN), observed(DRAWN)]
    assert like([observed(2 * DRAWN), observed(2 * DRAWN)], expected) is None
    assert "20 of 20" in str(like([observed(2 * DRAWN), observed(DRAWN)], expected))
    assert like([observed(OTHER), observed(OTHER)], expected) is not None
    assert like([observed(OTHER), observed(OTHER)], expected, Like(free=("it",))) is None
    assert like([observed(DRAWN)], expected) == "1 part, expected 2"
    assert like([observed(DRAWN), None], expected) is not None
    gone = np.where(LARGEST, np.nan, DRAWN)
    assert "1 of 20 numbers is NaN" in str(like([observed(DRAWN), observed(gone)], expected))
    assert like([observed(DRAWN), observed(DRAWN)], [observed(DRAWN), observed(gone)]) is None  # nothing to agree with
    assert "1 of 20 numbers is NaN" in str(like([observed(gone), observed(DRAWN)], expected))
    assert like([observed(np.full((4, 5), np.nan))] * 2, expected) is not None


NAN = np.full((4, 5), np.nan)


@pytest.mark.parametrize("right", [0, 1, 2, 5])
def test_two_ways_that_are_nan_but_for_a_few_numbers_do_not_pass(right: int) -> None:
    few = np.where(np.arange(20).reshape(4, 5) < right, DRAWN, np.nan)
    expected: Value = [observed(DRAWN), observed(DRAWN)]
    for judge in (Like(), Like(free=("it",))):
        assert like([observed(few), observed(few)], expected, judge) is not None
        assert like([observed(DRAWN), observed(few)], expected, judge) is not None
        assert like([observed(NAN), observed(NAN)], expected, judge) is not None


@pytest.mark.parametrize("count", [1, 2, 3])
def test_fewer_than_four_numbers_resemble_only_what_they_equal(count: int) -> None:
    expected = observed(DRAWN[0, :count])
    assert like(expected, expected) is None
    assert like(observed(2 * DRAWN[0, :count]), expected) is not None
    assert like(observed(OTHER[0, :count]), expected) is not None
    assert like(observed(OTHER[0, :count]), expected, Like(free=("it",))) is None


@pytest.mark.parametrize("count", [4, 5, 6, 8, 12, 20, 100])
def test_made_up_numbers_hardly_ever_resemble(count: int) -> None:
    random = np.random.RandomState(count)
    expected = observed(random.standard_normal(count))
    passed = sum(like(observed(random.standard_normal(count)), expected) is None for _ in range(1000))
    assert passed <= 6


def test_the_bias_that_all_vectors_share_resembles_nothing_and_the_rest_of_them_does() -> None:
    bias = 5 * np.random.RandomState(5).standard_normal(8)
    vectors = np.random.RandomState(6).standard_normal((6, 8)) + bias
    assert like(observed(np.broadcast_to(bias, (6, 8))), observed(vectors)) is not None
    assert like(observed(vectors - bias), observed(vectors)) is None


def test_with_a_spread_the_numbers_vary_as_much_as_the_reference() -> None:
    judge = Like(spread=2.5)
    assert like(observed(2 * DRAWN), observed(DRAWN), judge) is None
    assert like(observed(3 * DRAWN), observed(DRAWN), judge) is not None
    assert like(observed(DRAWN / 3), observed(DRAWN), judge) is not None


def with_part(sent: Value, at: int, change: Any) -> tuple[Value, int]:
    """Return an observation with its tensor number `at` changed, and how many tensors it has."""
    count = 0

    def walk(part: Value) -> Value:
        nonlocal count
        if isinstance(part, Array):
            count += 1
            return change(part) if count - 1 == at else part
        if isinstance(part, dict):
            return {name: walk(item) for name, item in part.items()}
        return [walk(item) for item in part] if isinstance(part, list) else part

    return walk(sent), count


@pytest.mark.worker
def test_no_check_passes_with_nan_in_any_of_its_tensors(suite: Suite, outcomes: Outcomes) -> None:
    """A program that is right in one setting and NaN in the others does not collect the others."""
    passed = []
    for exercise, check in every_check(suite):
        right = value(outcomes[exercise.id][check.id, 0])
        _, count = with_part(right, -1, None)
        for at in range(count):
            sent, _ = with_part(right, at, lambda part: made_up(part, float("nan")) if is_floating(part) else part)
            if sent != right and judge_observation(sent, Expected(right, right), check.judge) is None:
                passed.append((exercise.id, check.id, at))
    assert not passed


def test_zeros_stand_just_where_they_are_expected() -> None:
    zeros, judge = np.where(DRAWN > 0, DRAWN, 0), Like(exact_zeros=True)
    assert like(observed(2 * zeros), observed(zeros), judge) is None
    assert like(observed(zeros + 0.01), observed(zeros), judge) is not None
    assert like(observed(np.where(zeros == zeros.max(), 0, zeros)), observed(zeros), judge) is not None
    assert like([observed(zeros + 1e-9), observed(zeros)], [observed(zeros)] * 2, judge) is not None


def test_a_worker_gets_neither_the_seed_of_the_run_nor_one_seed_for_two_trials(suite: Suite) -> None:
    runner = Runner(suite, seed=SEED)
    plan = suite.plan(suite.course.exercises)
    job = runner._job({}, plan, {}, SEED)
    sent = json.dumps(
        {name: part for name, part in job.items() if name not in ("checks", "reference_parts")}, default=str
    )
    assert str(SEED) not in sent
    assert f"{SEED:x}" not in sent
    seeds = [seed for _, trials in job["plan"] for _, _, seed, _ in trials]
    assert len(set(seeds)) == len(seeds) == sum(map(len, plan.values()))
    assert str(SEED) not in str(runner.warm_up()["plan"])


def test_a_worker_gets_the_sizes_that_the_judge_uses() -> None:
    suite = load_suite(read_course(ROOT))
    job = Runner(suite, seed=SEED)._job({}, suite.plan(suite.course.exercises), {}, SEED)
    for exercise, trials in job["plan"]:
        columns = suite.course.sizes_of(suite.course.exercise(exercise))
        for check, trial, _, column in trials:
            assert job["sizes"][exercise][column] == sizes_of(columns, SEED, exercise, check, trial)
