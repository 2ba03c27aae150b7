"""docs/course-toml.md lists every key of course.toml and of the files with hints, and what holds without it."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from autograder.course import Limits, read_course
from autograder.course.grading import ASSIGNMENT_KEYS as ASSIGNMENTS
from autograder.course.grading import GRADING_KEYS as GRADING
from autograder.course.reader import EXERCISE_KEYS as EXERCISE
from autograder.course.reader import FLAG_KEYS as FLAGS
from autograder.course.reader import HINT_KEYS as HINTS
from autograder.course.reader import KEYS as TOP
from autograder.course.reader import PART_KEYS as PARTS
from autograder.course.reader import PLAY_KEYS as PLAY
from autograder.protocol import WAYS

PAGE = (Path(__file__).parents[3] / "docs" / "course-toml.md").read_text("utf-8")
SECTIONS = dict(zip(*[iter(re.split(r"^## (.+)\n", PAGE, flags=re.MULTILINE)[1:])] * 2, strict=True))
ROW = re.compile(r"^\| `(\w+)` \| .+ \| (.+) \|$", re.MULTILINE)
TABLES = {
    "limits",
    "sizes",
    "words",
    "forbidden_groups",
    "flags",
    "grading",
    "parts",
    "exercises",
    "play",
    "assignments",
}


@pytest.mark.parametrize(
    ("heading", "keys"),
    [
        ("At the top", set(TOP) - TABLES),
        ("`[[exercises]]`", set(EXERCISE)),
        ("Hints", set(HINTS)),
        ("`[[parts]]`", set(PARTS)),
        ("`[limits]`", {field.name for field in fields(Limits)}),
        ("`[flags]`", set(FLAGS)),
        ("`[grading]`", set(GRADING)),
        ("`[[assignments]]`", set(ASSIGNMENTS) - set(GRADING)),
        ("`[[play]]`", set(PLAY)),
    ],
)
def test_every_key_is_listed(heading: str, keys: set[str]) -> None:
    assert {key for key, _ in ROW.findall(SECTIONS[heading])} == keys


def test_every_way_is_listed() -> None:
    assert dict(re.findall(r"^\| `(way:[a-z-]+)` \| (.+) \|$", SECTIONS["`[flags]`"], re.MULTILINE)) == WAYS


def test_every_table_is_named() -> None:
    assert {name for name in TOP if f"[{name}]" in PAGE} == TABLES


def test_a_course_needs_only_what_has_no_default(tmp_path: Path) -> None:
    needed = {
        heading: [key for key, without in ROW.findall(text) if without == "an error"]
        for heading, text in SECTIONS.items()
    }
    assert needed["At the top"] == ["title", "seed"]
    assert needed["`[[parts]]`"] == ["id", "title"]
    assert needed["`[[exercises]]`"] == ["id", "title", "points"]
    exercise = '[[exercises]]\nid = "ex01_sums"\ntitle = "sums"\npoints = 3\n'
    (tmp_path / "course.toml").write_text(f'title = "Sums"\nseed = 1\n{exercise}', "utf-8")
    course = read_course(tmp_path)
    limits = {key: int(without) for key, without in ROW.findall(SECTIONS["`[limits]`"])}
    assert course.limits == Limits(**limits)
    assert (course.libraries, course.questions, course.grading, course.exercises[0].points) == ((), True, None, 10000)
