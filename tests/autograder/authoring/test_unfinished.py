"""Texts that still have to be written are warnings of `course validate`."""

import re
from pathlib import Path

import pytest

from autograder.authoring.command_new import new_exercise
from autograder.authoring.oversights import unfinished_texts
from autograder.course import read_course
from tests.support import tiny

CATALOGUE = f"solutions/misconceptions/{tiny.FIRST}.toml"


def warnings_of(root: Path, number: str = "01") -> list[str]:
    course = read_course(root)
    return [
        sentence
        for exercise in course.exercises
        if exercise.number == number
        for sentence in unfinished_texts(course, exercise)
    ]


def test_a_finished_exercise_has_no_warning(course: Path) -> None:
    assert warnings_of(course) == []


def test_the_placeholders_of_a_new_exercise_are_counted(course: Path) -> None:
    new_exercise(read_course(course), "third")
    assert warnings_of(course, "03") == [
        "ex03_third: of the lines of the solution, 3 still say TODO",
        "ex03_third: of the texts of [start], 1 still says TODO",
        "ex03_third: of the hints of the checks, 3 still say TODO",
        "ex03_third: of the explanations of the misconceptions, 1 still says TODO",
    ]


def test_a_name_that_a_draft_left_is_counted(course: Path) -> None:
    name = re.search(r"^name = .*$", (course / CATALOGUE).read_text("utf-8"), re.MULTILINE)
    assert name is not None
    tiny.replaced(course / CATALOGUE, name[0], 'name = "TODO: what is wrong, in a few words"')
    assert warnings_of(course) == [f"{tiny.FIRST}: of the names of the misconceptions, 1 still says TODO"]


def test_a_hint_that_is_missing_is_no_short_hint(course: Path) -> None:
    file = course / CATALOGUE
    file.write_text(file.read_text("utf-8").replace("\nhint = ", "\nhnt = ", 1), "utf-8")
    assert warnings_of(course) == []


@pytest.mark.parametrize("count", [2, 3])
def test_a_text_that_three_misconceptions_share_is_a_filler(course: Path, count: int) -> None:
    file = course / CATALOGUE
    lines = file.read_text("utf-8").split("\n")
    places = [at for at, line in enumerate(lines) if line.startswith("explanation = ")]
    for at in places[:count]:
        lines[at] = 'explanation = "This is wrong in some way."'
    file.write_text("\n".join(lines), "utf-8")
    sentence = f"{tiny.FIRST}: of the explanations of the misconceptions, 3 are equal: 'This is wrong in some way.'"
    assert warnings_of(course) == ([sentence] if count == 3 else [])


def test_a_hint_of_a_few_words_is_counted(course: Path) -> None:
    tiny.replaced(course / tiny.HINTS, "Along which axis do you sum?", "Which axis?")
    assert warnings_of(course) == [
        f"{tiny.FIRST}: of the hints of the checks, 1 has fewer than 3 words; the first is 'Which axis?'"
    ]


@pytest.mark.parametrize("cell", ["# %% [markdown]\n# # Means\n", "", "# %% [markdown]\n#\n"])
def test_a_lesson_of_a_title_is_no_lesson(course: Path, cell: str) -> None:
    file = course / "solutions" / tiny.FILES[0]
    cells = file.read_text("utf-8").split("# %%")
    code = [part for part in cells[1:] if not part.startswith(" [markdown]")]
    file.write_text("# %%".join([f"{cells[0]}{cell}", *code]), "utf-8")
    missing = f"the lesson has no text below its title; write it in the comments of {tiny.FILES[0]}"
    assert warnings_of(course) == [f"{tiny.FIRST}: {missing}"]
