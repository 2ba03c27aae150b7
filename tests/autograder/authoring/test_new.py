"""`course new` adds an exercise that passes `course validate`, with its entry, and changes nothing else."""

from pathlib import Path

import pytest

from autograder.authoring.command_build import find_stale, write_files
from autograder.authoring.command_new import EntryError, new_exercise, rescaled_points, with_entry
from autograder.authoring.proof import validate
from autograder.course import Course, CourseError, UsageError, load_suite, read_course, with_steps
from tests.support import tiny

COURSE = """\
title = "A new course"
seed = 1
libraries = ["torch"]

[sizes]
R = [3, 5]
C = [4, 7]
"""
ENTRY = '[[exercises]]\nid = "ex09_last"\n'


def empty_course(root: Path, more: str = "") -> Course:
    root.mkdir(exist_ok=True)
    (root / "course.toml").write_text(COURSE + more, "utf-8")
    return read_course(root, empty=True)


@pytest.mark.worker
def test_a_new_exercise_in_an_empty_course_is_proved_as_it_is(tmp_path: Path) -> None:
    files = new_exercise(empty_course(tmp_path), "first_one")
    assert [file.name for file in files][0::6] == ["ex01_first_one.py", "course.toml"]
    course = read_course(tmp_path)
    write_files(find_stale(course, write_parts=True).new)
    result = validate(with_steps(load_suite(course)), seed=1, jobs=1, cache=tmp_path / "cache")
    assert result.problems == []
    assert (course.exercises[0].title, course.exercises[0].points) == ("first one", 10000)
    assert list(course.exercises[0].hints) == ["doubled"]
    assert "hints" not in (tmp_path / "course.toml").read_text("utf-8")


def test_a_new_exercise_belongs_to_the_last_part(tmp_path: Path) -> None:
    parts = "".join(f'\n[[parts]]\nid = "{id_}"\ntitle = "T"\n' for id_ in ("one", "two"))
    new_exercise(empty_course(tmp_path, f"{parts}\n[parts.sizes]\nG = [3, 4]\nM = [5, 6]\n"), "first_one")
    course = read_course(tmp_path)
    assert [part.exercises for part in course.parts] == [(), ("ex01_first_one",)]
    assert 'given.sizes("G M")' in course.checks_file(course.exercises[0]).read_text("utf-8")
    new_exercise(course, "second")
    assert read_course(tmp_path).parts[-1].exercises == ("ex01_first_one", "ex02_second")


def test_a_new_exercise_stands_at_the_end_of_its_part(tmp_path: Path) -> None:
    parts = "".join(f'\n[[parts]]\nid = "{id_}"\ntitle = "T"\n' for id_ in ("one", "two", "three"))
    course = empty_course(tmp_path, parts)
    for name, part in (("b", "two"), ("a", "one"), ("c", "two"), ("d", None), ("e", "one")):
        new_exercise(course, name, part)
        course = read_course(tmp_path)
    exercises = [part.exercises for part in course.parts]
    assert exercises == [("ex02_a", "ex05_e"), ("ex01_b", "ex03_c"), ("ex04_d",)]
    with pytest.raises(UsageError, match="there is no part tow; did you mean two"):
        new_exercise(course, "f", "tow")
    with pytest.raises(UsageError, match="the course has none, so leave --part out"):
        new_exercise(tiny.course_at(tiny.copied(tmp_path / "other")), "f", "two")


@pytest.mark.worker
def test_every_file_of_a_new_exercise_is_named(tmp_path: Path) -> None:
    root = tiny.copied(tmp_path / "course")
    before = {file for file in root.rglob("*") if file.is_file()}
    said = tiny.run_course(root, "new", "third").stdout
    assert tiny.run_course(root, "build", "3").returncode == 0
    made = {file for file in root.rglob("*") if file.is_file() and ".course" not in file.parts} - before
    assert len(made) == 8
    assert [file for file in made if file.relative_to(root).as_posix() not in said] == []


@pytest.mark.worker
def test_the_part_of_a_new_exercise_is_named(tmp_path: Path) -> None:
    part = '\n[[parts]]\nid = "{0}"\ntitle = "Part {0}"\n'
    empty_course(tmp_path, part.format("base"))
    assert (
        'to course.toml, in the last part, base: "Part base"\n`course build 01` will'
        in tiny.run_course(tmp_path, "new", "a").stdout
    )
    file = tmp_path / "course.toml"
    assert "all points are scaled to the total of its part\n" in file.read_text("utf-8")
    file.write_text(file.read_text("utf-8") + part.format("more"), "utf-8")
    assert "bonus" not in tiny.run_course(tmp_path, "new", "b").stdout
    file.write_text(file.read_text("utf-8") + '\n[grading]\nbonus = ["ex02_b"]\n', "utf-8")
    done = tiny.run_course(tmp_path, "new", "c")
    expected = 'more: "Part more".\nThe other exercises of this part are bonus; if the new one is too, add it to bonus'
    assert expected in done.stdout


def test_points_that_are_scaled_are_said_for_each_part(tmp_path: Path) -> None:
    parts = "".join(
        f'\n[[parts]]\nid = "{id_}"\ntitle = "T"\npoints = {most}\n' for id_, most in (("one", 10), ("two", 49))
    )
    for name in ("first", "second"):
        new_exercise(empty_course(tmp_path, parts) if name == "first" else read_course(tmp_path), name)
    file = tmp_path / "course.toml"
    text = file.read_text("utf-8").replace("points = 10  ", "points = 5  ").replace('part = "two"', 'part = "one"', 1)
    file.write_text(text, "utf-8")
    assert list(rescaled_points(read_course(tmp_path))) == [
        "the points of part one add up to 5 and are scaled to 10: exercise 01 has 10 instead of 5",
        "the points of part two add up to 5 and are scaled to 49: exercise 02 has 49 instead of 5",
    ]
    file.write_text(text.replace("points = 10\n", "points = 5\n").replace("points = 49\n", "points = 5\n"), "utf-8")
    assert list(rescaled_points(read_course(tmp_path))) == []


def test_a_course_without_exercises_says_how_to_add_one(tmp_path: Path) -> None:
    empty_course(tmp_path)
    with pytest.raises(CourseError, match=r"exercises is missing, expected at least one .* `course new NAME` adds one"):
        read_course(tmp_path)


def test_the_next_number_and_the_usual_points_are_taken(tmp_path: Path) -> None:
    tiny.copied(tmp_path)
    before = (tmp_path / "course.toml").read_text("utf-8")
    new_exercise(read_course(tmp_path), "third")
    course = read_course(tmp_path)
    assert [exercise.id for exercise in course.exercises] == [tiny.FIRST, tiny.SECOND, "ex03_third"]
    assert sum(exercise.points for exercise in course.exercises) == 10000
    assert 'id = "ex03_third"\ntitle = "third"\npoints = 50 ' in (tmp_path / "course.toml").read_text("utf-8")
    assert (tmp_path / "course.toml").read_text("utf-8").startswith(before.rstrip())


@pytest.mark.worker
def test_nothing_of_another_exercise_becomes_stale(tmp_path: Path) -> None:
    tiny.copied(tmp_path)
    write_files(find_stale(read_course(tmp_path), write_parts=True).handed_out)
    new_exercise(read_course(tmp_path), "third")
    stale = find_stale(read_course(tmp_path), write_parts=False)
    assert stale.names == ["ex03_third.py", "ex03_third.ipynb"]


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    course = empty_course(tmp_path)
    new_exercise(course, "first")
    with pytest.raises(UsageError, match="exists already, so nothing was written"):
        new_exercise(course, "first")


def test_a_number_that_is_taken_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the number 02 belongs to ex02_matrix_power; write only third, and it gets"):
        new_exercise(read_course(tiny.copied(tmp_path)), "ex02_third")


@pytest.mark.parametrize("name", ["ex1_First", "EX01_first", "ex01_", "../first", "first.py", "1st", ""])
def test_a_name_that_will_not_do_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="expected small letters, digits and _"):
        new_exercise(empty_course(tmp_path), name)
    assert not (tmp_path / "solutions").exists()
    assert (tmp_path / "course.toml").read_text("utf-8") == COURSE


@pytest.mark.parametrize("name", ["class", "ex09_class"])
def test_a_keyword_is_called_one(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"^class is a keyword of Python, so no function can have this name; choose"):
        new_exercise(empty_course(tmp_path), name)


def test_a_name_that_is_taken_is_refused_unless_a_number_is_given(tmp_path: Path) -> None:
    course = read_course(tiny.copied(tmp_path))
    two = "ex01_running_mean has this name already; choose another, or write ex03_running_mean if you want two"
    with pytest.raises(UsageError, match=f"^{two}$"):
        new_exercise(course, "running_mean")
    assert new_exercise(course, "ex03_running_mean")[0].stem == "ex03_running_mean"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = 1\n", f"a = 1\n\n{ENTRY}"),
        ("a = 1\n\n[b]\nc = 2\n", f"a = 1\n\n[b]\nc = 2\n\n{ENTRY}"),
        (
            '[[exercises]]\nid = "x"\n[exercises.words]\na = []\n\n# When it is due.\n[grading]\nd = 1\n',
            f'[[exercises]]\nid = "x"\n[exercises.words]\na = []\n\n{ENTRY}\n# When it is due.\n[grading]\nd = 1\n',
        ),
        (
            '[[exercises]]\nid = "x"   # one\n\n# The end.\n',
            f'[[exercises]]\nid = "x"   # one\n\n# The end.\n\n{ENTRY}',
        ),
    ],
)
def test_the_entry_follows_the_last_exercise_and_all_else_stays(before: str, after: str) -> None:
    assert with_entry(before, ENTRY) == after


def test_exercises_in_another_form_are_left_to_the_author() -> None:
    with pytest.raises(EntryError, match=r"not written as \[\[exercises\]\] tables"):
        with_entry("exercises = [{id = 'x'}]\n", ENTRY)
