"""No file of a kit is an answer: a sample of the attempts of `tests/proof/kit_answers.py`."""

from collections.abc import Mapping
from contextlib import nullcontext

import pytest

from autograder.answer_key import AnswerKey, Keys
from autograder.course import Exercise, Suite, load_suite, read_course
from autograder.runner import Runner
from tests.support import tiny
from tests.support.kit_attempts import (
    EMPTY,
    Attempt,
    answers,
    brief,
    by_empty_programs,
    earned,
    every_attempt,
    meets_parts,
)

pytestmark = [pytest.mark.slow(seconds=200), pytest.mark.worker]

SEED = 5
COURSE = read_course(tiny.REPOSITORY)
NEAREST = (
    "autograder/worker/sources.py",
    "autograder/checks/given.py",
    "reference_parts/",
    "exercises/ex",
    "test_ex05",
)
"""The attempts most similar to an answer, which are always in the sample."""

TRIED = ("ex01", "ex04", "ex05", "ex06", "ex08", "ex12", "ex14", "ex17")
"""They are submitted as these exercises and those that these need; the proof takes all."""

EVERY = 700


def sample() -> list[Attempt]:
    attempts = [attempt for attempt in every_attempt(COURSE) if not attempt.name.endswith(".ipynb")]
    near = [attempt for attempt in attempts if any(part in attempt.name for part in NEAREST) or " " in attempt.name]
    return list({attempt.name: attempt for attempt in (*near[::14], *attempts[::EVERY])}.values())


@pytest.fixture(scope="module")
def suite() -> Suite:
    tried = [exercise for exercise in COURSE.exercises if exercise.id.startswith(TRIED)]
    needed = {other.id for exercise in tried for other in COURSE.with_all_needs(exercise)}
    return brief(load_suite(COURSE, [exercise for exercise in COURSE.exercises if exercise.id in needed]))


@pytest.fixture(scope="module")
def keys(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, AnswerKey]:
    with Keys(suite, seed=SEED, cache=tmp_path_factory.mktemp("keys")) as keys:
        return {exercise.id: keys.reference(exercise) for exercise in suite.exercises}


def test_nothing_in_the_kit_earns_a_point(suite: Suite, keys: Mapping[str, AnswerKey]) -> None:
    found: dict[str, Mapping[str, int]] = {}

    def key(exercise: Exercise) -> AnswerKey:
        return keys[exercise.id]

    with Runner(suite, seed=SEED, shared=True) as runner:
        empty = by_empty_programs(suite, runner, key, EMPTY[:4])
        for attempt in sample():
            # As in grading, what looks into memory has a worker of its own: others would leave parts there.
            with Runner(suite, seed=SEED, shared=True) if meets_parts(attempt) else nullcontext(runner) as own:
                found[attempt.name] = answers(earned(suite, own, attempt, key), empty)
    assert len(found) >= 8
    assert {name: points for name, points in found.items() if points} == {}
