"""`course new` writes an exercise that passes `course validate`, and overwrites nothing."""

from pathlib import Path

import pytest

from autograder.authoring.new import entry, new_exercise
from autograder.authoring.validate import validate
from autograder.course import Course, read_course
from autograder.course.names import UsageError
from autograder.course.suite import load_suite, with_steps

COURSE = """
title = "A new course"
seed = 1
libraries = ["torch"]
[sizes]
R = [3, 5]
C = [4, 7]
"""


def new_course(root: Path, *ids: str) -> Course:
    exercises = "".join(entry(id_).replace("points = 1 ", f"points = {100 // len(ids)} ") for id_ in ids)
    (root / "course.toml").write_text(COURSE + exercises, "utf-8")
    return read_course(root)


@pytest.mark.worker
def test_a_new_exercise_is_proved_as_it_is(tmp_path: Path) -> None:
    course = new_course(tmp_path, "ex01_first")
    assert len(new_exercise(course, "ex01_first")) == 5
    assert validate(with_steps(load_suite(course)), seed=1, jobs=1, cache=tmp_path / "cache").problems == []


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    course = new_course(tmp_path, "ex01_first")
    new_exercise(course, "ex01_first")
    with pytest.raises(UsageError, match="exists already"):
        new_exercise(course, "ex01_first")


@pytest.mark.parametrize("name", ["first", "ex1_first", "EX01_first", "ex01_", "../ex01_first", "ex01_first.py"])
def test_a_name_that_will_not_do_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="expected exNN_name"):
        new_exercise(new_course(tmp_path, "ex01_first"), name)
    assert not (tmp_path / "solutions").exists()
