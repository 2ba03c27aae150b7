"""Each format has one number, a file of another format gets a sentence, and JSON becomes values of declared types."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pytest

from autograder import __version__
from autograder.answer_key import read_manifest
from autograder.course import MANIFEST, CourseError, read_course
from autograder.formats import COURSE, KEY, REFERENCE_PART, REPORT, Format, Unreadable, read_json
from autograder.gradebook import ExportError, Roster, read_graded, read_run
from autograder.results import UnknownFormat, from_json, read_report
from autograder.runner import EnvironmentProblem
from tests.support import tiny

READS = f"but this engine (version {__version__}) reads format"
THIRD = Format("this file", 3, "write it again", oldest=2)


@pytest.mark.parametrize("found", [2, 3])
def test_a_number_that_is_read_has_no_problem(found: int) -> None:
    assert THIRD.problem_of(found) is None


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (1, f"this file has format 1, {READS}s 2 to 3; write it again"),
        (4, f"this file has format 4, {READS}s 2 to 3; install a newer engine"),
        (None, f"this file names no format, {READS}s 2 to 3; write it again"),
        (True, f"this file names no format, {READS}s 2 to 3; write it again"),
        ("3", f"this file names no format, {READS}s 2 to 3; write it again"),
    ],
)
def test_another_number_is_a_sentence_with_both_and_what_to_do(found: object, sentence: str) -> None:
    assert THIRD.problem_of(found) == sentence


def test_a_course_of_another_format_shows_this_mistake_alone(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text("unheard = 1\nformat = 2\n")
    with pytest.raises(CourseError) as caught:
        read_course(tmp_path)
    assert str(caught.value) == f"course.toml:2: {COURSE.problem_of(2)}"


def test_a_course_may_name_its_format_and_without_one_it_has_the_first(tmp_path: Path) -> None:
    root = tiny.copied(tmp_path / "course")
    assert read_course(root) == replace(tiny.COURSE, root=root)
    text = (root / "course.toml").read_text("utf-8")
    (root / "course.toml").write_text(f"format = 1\n{text}")
    assert read_course(root) == replace(tiny.COURSE, root=root)


def test_a_report_of_another_format_is_refused_where_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "ada.json"
    file.write_text(json.dumps({"schema": 2}))
    with pytest.raises(UnknownFormat, match=re.escape(str(REPORT.problem_of(2)))):
        read_report(file)
    with pytest.raises(UnknownFormat):
        from_json({"schema": None})
    with pytest.raises(ExportError, match=re.escape(f"ada.json: {REPORT.problem_of(2)}")):
        read_graded(tiny.COURSE, Roster(()), file)
    file.write_text("[]")
    assert read_report(file) is None


@pytest.mark.parametrize("found", [None, 2])
def test_the_answer_keys_of_another_engine_are_refused_before_they_are_read(tmp_path: Path, found: object) -> None:
    (tmp_path / "key").mkdir()
    (tmp_path / MANIFEST).write_text(json.dumps({"format": found, "seed": 1, "sizes": [], "files": {}}))
    with pytest.raises(EnvironmentProblem, match=re.escape(str(KEY.problem_of(found)))):
        read_manifest(tmp_path)


def test_the_docs_list_every_format_with_its_number() -> None:
    page = (tiny.REPOSITORY / "docs" / "formats.md").read_text("utf-8")
    rows = re.findall(r"^\| (?!what |---)(.+?) \| (\d+) \| (.+?) \|$", page, re.MULTILINE)
    numbers = [entry.number for entry in (COURSE, KEY, REPORT, REFERENCE_PART)]
    assert [int(number) for _, number, _ in rows] == numbers


Colour = Literal["red", "green"]


@dataclass(frozen=True)
class Part:
    name: str
    colour: Colour = "red"
    size: float | None = None


@dataclass(frozen=True)
class Whole:
    parts: tuple[Part, ...]
    pair: tuple[str, int] = ("", 0)
    counts: Mapping[str, int] = field(default_factory=dict)
    is_old: bool = False


def test_json_becomes_values_of_the_declared_types() -> None:
    text = '{"parts": [{"name": "a", "size": NaN, "new": 1}], "pair": ["b", 2], "counts": {"c": 3}, "is_old": true}'
    assert read_json(Whole, text) == Whole((Part("a"),), ("b", 2), {"c": 3}, is_old=True)
    assert read_json(Whole, '{"parts": []}') == Whole(())
    assert read_json(dict[str, tuple[int, ...]], b'{"a": [1]}') == {"a": (1,)}


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "7", "null", "{}", "[" * 100_000, "\0", '{"parts": null}', '{"parts": "ab"}'),
        *(
            '{"parts": [7]}',
            '{"parts": [{}]}',
            '{"parts": [{"name": 7}]}',
            '{"parts": [{"name": "a", "colour": "blue"}]}',
        ),
        *('{"parts": [{"name": "a", "colour": []}]}', '{"parts": [{"name": "a", "size": "7"}]}'),
        f'{{"parts": [{{"name": "a", "size": 1{"0" * 400}}}]}}',
        *('{"parts": [], "pair": ["b"]}', '{"parts": [], "pair": "b2"}', '{"parts": [], "pair": ["b", "2"]}'),
        *('{"parts": [], "counts": []}', '{"parts": [], "counts": {"c": "3"}}', '{"parts": [], "is_old": 1}'),
    ],
)
def test_json_of_another_shape_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        read_json(Whole, text)


def test_run_json_that_is_nested_too_deeply_is_taken_as_missing(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("[" * 100_000)
    assert read_run(tmp_path) is None
