"""Progress in a course of several parts is counted by part, and the next exercise is one of the same part."""

from dataclasses import replace

import pytest

from autograder.course import Course
from autograder.course.model import Part
from autograder.course.taking import taking
from autograder.learner.overview import count_passed, part_sentences, rows_of, texts_above
from autograder.learner.progress import Progress, Standing
from tests.support import tiny

PASSED = Standing(status="pass", first_passed="2026-03-01T12:00:00Z", score=6000, max_score=6000)


@pytest.fixture
def parted() -> Course:
    """Return a course of two parts with one exercise each, and a third one without any."""
    parts = (Part("one", "Means", (tiny.FIRST,)), Part("two", "Powers", (tiny.SECOND,)), Part("three", "More", ()))
    return replace(tiny.COURSE, parts=parts)


def test_the_title_counts_the_part_that_is_worked_on(parted: Course) -> None:
    assert count_passed(parted, Progress(here=tiny.SECOND)) == "0 of 1 exercise of part two passed"
    assert count_passed(parted, Progress()) == "0 of 1 exercise of part one passed"
    assert count_passed(tiny.COURSE, Progress()) == "0 of 2 exercises passed"
    assert count_passed(taking(parted, ["two"]), Progress()) == "0 of 1 exercise passed"


def test_each_part_has_a_heading_with_its_points(parted: Course) -> None:
    progress = Progress({tiny.SECOND: PASSED}, tiny.SECOND)
    rows = rows_of(parted, progress)
    first, second = part_sentences(parted, progress, rows).values()
    assert first == "Part one, Means: 0 of 1 exercise passed, 0 of 40 points"
    assert second == "Part two, Powers: 1 of 1 exercise passed, 60 of 60 points"
    assert texts_above(parted, progress, rows, rows) == [first, second]
    assert texts_above(parted, progress, rows, rows[1:]) == [second]


def test_a_single_part_has_no_heading(parted: Course) -> None:
    assert part_sentences(taking(parted, ["two"]), Progress(), []) == {}
    assert part_sentences(tiny.COURSE, Progress(), []) == {}


def test_the_next_exercise_is_one_of_the_same_part(parted: Course) -> None:
    both = replace(
        parted, parts=(Part("one", "Means", (tiny.FIRST,)), Part("two", "Powers", (tiny.SECOND, "ex03_last")))
    )
    last = replace(tiny.COURSE.exercises[1], id="ex03_last")
    course = replace(both, exercises=(*tiny.COURSE.exercises, last))
    current = Progress({tiny.SECOND: PASSED}, tiny.SECOND).current(course)
    assert current is not None
    assert current.id == "ex03_last"
    after = Progress({tiny.SECOND: PASSED, "ex03_last": PASSED}, "ex03_last").current(course)
    assert after is not None
    assert after.id == tiny.FIRST
