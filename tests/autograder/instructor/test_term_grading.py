"""Grading one assignment of a term again and again: what belongs to another week or another student stays as it is."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.autograder.instructor.test_term import (
    FILES,
    RIGHT,
    SORT,
    WRONG_SORT,
    course_at,
    grade,
    hand_in,
    run,
)

pytestmark = pytest.mark.worker

BY = ("--reason", "the wrong file", "--by", "Grace")
IN_TIME = timedelta(hours=-1)


@pytest.fixture
def class_of_two(tmp_path: Path) -> tuple[Path, Path]:
    """Return a course and the hand-ins of two students for the first week, which hold the next week's work too."""
    course, hand_ins = course_at(tmp_path / "course"), tmp_path / "hand_ins"
    more = {FILES["week2"]: RIGHT["week2"]}
    hand_in(hand_ins, "week1", "ada", RIGHT["week1"], IN_TIME, more)
    hand_in(hand_ins, "week1", "ben", WRONG_SORT, IN_TIME, more)
    return course, hand_ins


def accept_sort(course: Path, student: str, folder: Path) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "sort.py").write_text(RIGHT["week1"])
    named = ("--as", FILES["week1"], "--assignment", "week1", *BY)
    return run(course, "accept", student, str(folder / "sort.py"), *named)


def test_the_class_page_compares_the_submissions_as_they_were_graded(
    class_of_two: tuple[Path, Path], tmp_path: Path
) -> None:
    course, hand_ins = class_of_two
    accept_sort(course, "ben", tmp_path / "mail")
    grade(course, hand_ins, "week1")
    said = run(course, "dashboard", "build/week1", str(hand_ins / "week1"))
    assert "left out" not in said
    hand_in(hand_ins, "week1", "cem", RIGHT["week1"], IN_TIME, {})
    grade(course, hand_ins, "week1")
    for student in ("ada", "cem"):
        (hand_ins / "week1" / student / "term" / f"{SORT}.py").write_text("# another one\n")
    said = run(course, "dashboard", "build/week1", str(hand_ins / "week1"))
    assert "2 submissions in" in said
    assert "were changed since they were graded, left out: ada and cem" in said
