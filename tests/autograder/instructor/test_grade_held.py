"""A hand-in of which no file can be read is held back: it has no score, which is not zero, until somebody decides."""

import csv
import json
import zipfile
from pathlib import Path

import pytest

from autograder.course import read_course
from autograder.exports.feedback import feedback
from autograder.gradebook import Roster, read_graded
from tests.support import tiny

pytestmark = pytest.mark.worker

GRADER = 4
HELD = ("broken", "empty", "other")


def run(school: Path, *arguments: str, expected: int = GRADER) -> str:
    done = tiny.run_course(school / "course", *arguments, *(tiny.TRUSTED if arguments[0] == "grade" else ()))
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout + done.stderr


def grade(school: Path, expected: int = GRADER) -> str:
    arguments = ("--out", str(school / "out"), "--seed", "5", "--plain", "--jobs", "2")
    return run(school, "grade", str(school / "hand_in"), *arguments, expected=expected)


def rows(file: Path) -> dict[str, dict[str, str]]:
    with file.open(newline="") as lines:
        return {row["student"]: row for row in csv.DictReader(lines)}


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("held")
    tiny.copied(folder / "course")
    hand_in = folder / "hand_in"
    tiny.handed_in(hand_in / "good")
    (hand_in / "empty").mkdir()
    (hand_in / "broken.zip").write_bytes(b"PK\x03\x04 and then nothing")
    with zipfile.ZipFile(hand_in / "other.zip", "w") as archive:
        archive.writestr("essay.docx", b"<b>words")
        archive.writestr("photo.jpg", b"1234")
    (folder / "first").write_text(grade(folder))
    return folder


def test_what_cannot_be_read_has_no_score_and_nobody_gets_a_zero(school: Path) -> None:
    table = rows(school / "out" / "scores.csv")
    assert table["good"]["final"] == "100.00"
    for student in HELD:
        assert [table[student][name] for name in ("score", "final", "penalty", tiny.FIRST, tiny.SECOND)] == [""] * 5
        report = json.loads((school / "out" / "reports" / f"{student}.json").read_text("utf-8"))
        assert {exercise["status"] for exercise in report["exercises"]} == {"held"}


def test_the_class_says_what_was_found_in_each(school: Path) -> None:
    said = (school / "first").read_text()
    assert "broken.zip (21 bytes)" in said
    assert "broken: no score." in said
    assert "0 of" not in said.split("good")[0]
    assert "held, no score: it is empty" in said
    assert "essay.docx (8 bytes), photo.jpg (4 bytes)" in said
    assert "3 submissions have no file of the assignment that could be read, and are held back without a score" in said


def test_an_export_names_them_and_writes_no_score(school: Path, tmp_path: Path) -> None:
    said = run(school, "export", "scores", str(school / "out"), "--to", str(tmp_path / "scores.csv"))
    found = "the hand-in of 3 students has no file of the assignment that could be read, and no score is written"
    assert f"{found}: broken, empty and other" in said
    assert rows(tmp_path / "scores.csv")["empty"]["final"] == ""


def test_the_page_of_the_student_says_what_was_found_and_escapes_it(school: Path) -> None:
    course = read_course(school / "course")
    graded = read_graded(course, Roster(), school / "out")
    pages = {mark.student: feedback(graded, mark) for mark in graded.marks}
    assert "No score yet" in pages["other"]
    assert "essay.docx (8 bytes)" in pages["other"]
    assert "No file of the assignment could be read in your hand-in. This is in it:" in pages["other"]
    assert "nobody has decided yet" in pages["other"]
    assert "Your hand-in is empty." in pages["empty"]
    assert not any("without problems" in pages[student] for student in HELD)


def test_a_hand_in_that_was_replaced_is_graded_and_the_others_stay_held(school: Path) -> None:
    (school / "hand_in" / "broken.zip").unlink()
    tiny.handed_in(school / "hand_in" / "broken")
    said = grade(school)
    assert "1 graded, 3 kept from before" in said
    assert rows(school / "out" / "scores.csv")["broken"]["final"] == "100.00"
