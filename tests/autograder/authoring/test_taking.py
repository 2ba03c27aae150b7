"""A class that takes a part of a course, or chosen exercises: nothing else is listed, checked, graded or released.

What these exercises build on beside them comes from reference parts.
"""

import csv
import json
import tomllib
from pathlib import Path

import pytest

from autograder.authoring.release import with_take, write_kit
from autograder.course import CourseError, SuiteError, load_suite, read_course, taking
from tests.support import tiny
from tests.support.kits import kit_of

PARTS = """
[[parts]]
id = "one"
title = "Means"
points = 40

[[parts]]
id = "two"
title = "Powers"
points = 60

[[exercises]]"""

PART = """
import torch


def running_mean(x):
    count = torch.arange(1, x.size(-1) + 1, device=x.device)
    return torch.cumsum(x, dim=-1) / count
"""

ACTIVITIES = f"""
[[play]]
id = "both"
title = "uses both"
needs = ["{tiny.FIRST}", "{tiny.SECOND}"]

[[play]]
id = "powers"
title = "uses the second"
needs = ["{tiny.SECOND}"]
"""


@pytest.fixture
def parted(course: Path) -> Path:
    """Return a course of two parts, of which the second builds on the first; the first has a reference part."""
    file = course / "course.toml"
    text = file.read_text("utf-8").replace("\n[[exercises]]", PARTS, 1)
    for name, part in ((tiny.FIRST, "one"), (tiny.SECOND, "two")):
        text = text.replace(f'\nid = "{name}"\n', f'\nid = "{name}"\npart = "{part}"\n')
    file.write_text(text, "utf-8")
    folder = course / "solutions" / "reference_parts"
    folder.mkdir()
    (folder / f"{tiny.FIRST}.py").write_text(PART, "utf-8")
    compiled = course / "tests" / "exercises" / "reference_parts"
    compiled.mkdir()
    (compiled / f"{tiny.FIRST}.json").write_bytes(tiny.part(tiny.FIRST, PART))
    return course


def take(course: Path, *names: str, after: str = "") -> None:
    file = course / "course.toml"
    file.write_text(with_take(file.read_text("utf-8"), names) + after, "utf-8")


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["two"], [tiny.SECOND]), ([tiny.FIRST], [tiny.FIRST]), (["two", "one"], [tiny.FIRST, tiny.SECOND])],
)
def test_only_what_is_taken_is_in_the_course(parted: Path, names: list[str], expected: list[str]) -> None:
    take(parted, *names)
    course = read_course(parted)
    assert [exercise.id for exercise in course.exercises] == expected
    assert [exercise.id for exercise in course.every] == [tiny.FIRST, tiny.SECOND]
    second = course.exercise(tiny.SECOND)
    assert [exercise.id for exercise in course.with_all_needs(second)] == [tiny.FIRST, tiny.SECOND]
    assert {exercise.id for exercise in course.with_needs(second)} <= set(expected)


def test_an_activity_is_offered_where_all_it_needs_is_taken(parted: Path) -> None:
    take(parted, "two", after=ACTIVITIES)
    assert [activity.id for activity in read_course(parted).play] == ["powers"]


def test_what_is_taken_must_exist(parted: Path) -> None:
    take(parted, "too")
    with pytest.raises(CourseError, match=r'take lists "too", which is no part and no exercise; did you mean two\?'):
        read_course(parted)


def test_what_is_missing_must_have_a_reference_part(parted: Path) -> None:
    take(parted, "two")
    (parted / "tests" / "exercises" / "reference_parts" / f"{tiny.FIRST}.json").unlink()
    expected = f"{tiny.SECOND} needs {tiny.FIRST}, which is not taken and has no reference part"
    with pytest.raises(SuiteError, match=expected):
        load_suite(read_course(parted))


def test_take_replaces_an_earlier_one_and_nothing_else() -> None:
    text = '# A course.\n\ntitle = "T"\ntake = [\n    "one",\n]  # this year\n[sizes]\ntake = [1, 2]\n'
    made = with_take(text, ["two"])
    assert tomllib.loads(made) == {"title": "T", "take": ["two"], "sizes": {"take": [1, 2]}}
    assert made.startswith("# A course.\n\ntake = ")
    assert with_take(text, []) == text


@pytest.mark.worker
def test_a_kit_of_one_part_needs_no_file_of_the_other(parted: Path, tmp_path: Path) -> None:
    kit = tmp_path / "kit"
    done = tiny.run_course(parted, "release", str(kit), "--take", "two")
    assert done.returncode == 0, done.stderr
    own = [file.relative_to(kit).as_posix() for file in kit.rglob("*") if "autograder" not in file.parts]
    assert [name for name in own if tiny.FIRST in name] == [f"tests/exercises/reference_parts/{tiny.FIRST}.json"]
    assert "running mean" not in (kit / "README.md").read_text("utf-8")
    assert [file.stem for file in (kit / "tests" / "exercises" / "hints").iterdir()] == [tiny.SECOND]
    assert tiny.FIRST not in (kit / "tests" / "exercises" / "misconceptions.json").read_text("utf-8")

    (kit / "exercises" / tiny.FILES[1]).write_text(tiny.POWER, "utf-8")
    done = tiny.run_course(kit, "check", "--all", "--json", str(tmp_path / "report.json"))
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert (done.returncode, report["score"], report["max_score"]) == (0, 6000, 6000)
    [result] = report["exercises"]
    assert (result["id"], result["parts"], result["stood_in"]) == (tiny.SECOND, "own", [])
    assert "running mean" not in done.stdout
    listed = tiny.run_course(kit, "list", "--plain").stdout
    assert "1 of 1 exercise passed" in listed
    assert "running mean" not in listed

    notebook = "from ex02_matrix_power import mean_power\nimport torch\nprint(mean_power(torch.eye(2), 3))"
    finder = "from autograder.notebook.cells import find_earlier_exercises as find; find()\n"
    done = tiny.run_course(kit / "exercises", program=("-c", finder + notebook))
    assert "tensor([[1., 0.]" in done.stdout, done.stderr


@pytest.mark.worker
def test_a_class_is_graded_in_what_it_takes(parted: Path, tmp_path: Path) -> None:
    take(parted, "two")
    tiny.handed_in(tmp_path / "class" / "ada", None)
    tiny.handed_in(tmp_path / "class" / "bob", "import nothing_at_all", tiny.POWER)
    out = tmp_path / "out"
    done = tiny.run_course(parted, "grade", str(tmp_path / "class"), "--out", str(out), "--seed", "5", *tiny.TRUSTED)
    assert done.returncode == 0, done.stderr
    with (out / "scores.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["student"], row["score"], row["max_score"]) for row in rows] == [
        ("ada", "60.00", "60.00"),
        ("bob", "60.00", "60.00"),
    ]
    assert not [name for name in rows[0] if tiny.FIRST in name]


@pytest.mark.worker
def test_the_course_proves_what_it_takes(parted: Path) -> None:
    take(parted, "two")
    done = tiny.run_course(parted, "validate", "--plain")
    assert "the course holds" in done.stdout, done.stdout
    assert tiny.FIRST not in done.stdout


def bonus_of(course: Path) -> tuple[str, ...]:
    grading = read_course(course).grading
    assert grading is not None
    return grading.bonus


BONUS = f'\n[grading]\nbonus = ["{tiny.SECOND}"]\n'
WEEK = f'\n[[assignments]]\nid = "week1"\ntitle = "Week 1"\nexercises = ["{tiny.SECOND}"]\n'


def test_exercises_that_are_a_bonus_count_where_no_others_are_taken(parted: Path) -> None:
    take(parted, after=BONUS)
    assert bonus_of(parted) == (tiny.SECOND,)
    take(parted, "two")
    assert bonus_of(parted) == ()
    take(parted, "one", "two")
    assert bonus_of(parted) == (tiny.SECOND,)


def test_exercises_that_are_a_bonus_count_in_an_assignment_without_others(parted: Path) -> None:
    take(parted, after=BONUS + WEEK)
    [assignment] = read_course(parted).assignments
    assert assignment.grading.bonus == ()
    take(parted, after=f'bonus = ["{tiny.SECOND}"]\n')
    with pytest.raises(CourseError, match="bonus lists every exercise"):
        read_course(parted)


def test_the_kit_of_bonus_exercises_alone_can_be_read(parted: Path, key_cache: Path, tmp_path: Path) -> None:
    take(parted, after=BONUS)
    suite = load_suite(taking(read_course(parted), ["two"]))
    write_kit(kit_of(suite, cache=key_cache), tmp_path / "kit")
    kit = read_course(tmp_path / "kit")
    assert [exercise.id for exercise in kit.exercises] == [tiny.SECOND]
    assert kit.grading is None
