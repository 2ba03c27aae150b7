"""Progress in a course of several parts is counted by part, and the next exercise is one of the same part."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from autograder.course import Course, read_course, taking
from autograder.course.course import Part
from autograder.notebook.cells import _next
from autograder.progress import (
    Progress,
    Screen,
    Standing,
    after_check,
    count_passed,
    following_exercise,
    part_sentences,
    rows_of,
    texts_above,
    way_on,
)
from tests.support import tiny
from tests.support.report_examples import PASS, report

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


REAL = read_course(tiny.REPOSITORY)
NUMBERS = {exercise.number: exercise for exercise in REAL.exercises}


@pytest.mark.parametrize(
    ("passed", "here", "following", "words"),
    [
        (["01"], "01", "02", "on to 02 "),
        (["16"], "16", "17", "on to 17 "),
        (["16", "17", "19", "20"], "20", "21", "on to 21 "),
        (["16", "17", "19", "20"], "17", "18", "on to 18 "),
        (["19", "20"], "19", "21", "on to 21 "),
        ([f"{number}" for number in range(16, 27)], "26", "15", "back to 15 byte pair encoding, which is still open"),
        ([f"{number}" for number in range(15, 27)], "26", "01", "back to 01 "),
        ([f"{number:02}" for number in range(1, 15)], "14", "15", "on to 15 "),
        ([f"{number:02}" for number in range(1, 15) if number != 4], "14", "04", "back to 04 "),
        ([f"{number:02}" for number in range(1, 28)], "27", "28", "on to 28 "),
        ([number for number in NUMBERS if number != "27"], max(NUMBERS), "27", "back to 27 "),
        ([*NUMBERS], "09", None, ""),
    ],
)
def test_every_place_proposes_the_exercise_after_the_one_that_passed(
    passed: list[str], here: str, following: str | None, words: str
) -> None:
    progress = Progress({NUMBERS[number].id: PASSED for number in passed}, NUMBERS[here].id)
    exercise, wanted = NUMBERS[here], NUMBERS[following] if following else None
    assert progress.current(REAL) == progress.following(REAL, exercise) == wanted
    assert following_exercise(REAL, progress) == wanted
    result = replace(PASS, id=exercise.id)
    after = after_check(REAL, report("", result), progress)
    said = [does for command, does in after if command == "course next"]
    on_watch = Screen(Console(file=io.StringIO()), REAL, plain=False, keys=True)._next(result, exercise.file, progress)
    in_notebook = _next(REAL, exercise, progress, result)
    if wanted is None:
        assert (said, on_watch[0][0], in_notebook[0][0]) == ([], "course check --all", "status()")
    else:
        assert said[0] == in_notebook[0][1]
        assert said[0].startswith(words)
        assert on_watch == [("n", f"goes {said[0]}")]


def test_what_no_longer_passes_comes_last_and_is_said_so() -> None:
    every = {exercise.id: PASSED for exercise in REAL.exercises}
    progress = Progress({**every, NUMBERS["03"].id: replace(PASSED, status="fail")}, NUMBERS["20"].id)
    assert progress.current(REAL) == NUMBERS["03"]
    assert way_on(REAL, progress, NUMBERS["20"], NUMBERS["03"]) == "back to 03 layer normalization, which fails again"


def test_skipping_goes_forward_in_the_part_also_past_what_was_not_tried() -> None:
    tried = Standing(status="fail", runs=1)
    for standings, here, following in (
        ({"15": tried}, "15", "16"),
        ({}, "16", "17"),
        ({"17": PASSED}, "16", "18"),
        ({"25": PASSED, "26": tried}, "26", "15"),
    ):
        progress = Progress({NUMBERS[number].id: one for number, one in standings.items()}, NUMBERS[here].id)
        assert following_exercise(REAL, progress, skip=True) == NUMBERS[following]
    assert following_exercise(REAL, Progress(here=NUMBERS["16"].id)) == NUMBERS["16"], "it was not tried"
