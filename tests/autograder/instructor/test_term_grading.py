"""Grading one assignment of a term again and again: what belongs to another week or another student stays as it is."""

import csv
import json
import os
import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from autograder.course import Grading, UsageError, read_course
from autograder.gradebook import Roster, Student, policy_of, read_adjustments, read_times, without_effect
from tests.autograder.gradebook.test_term import (
    FILES,
    RIGHT,
    SORT,
    WRONG_SORT,
    course_at,
    grade,
    hand_in,
    run,
)
from tests.support import tiny

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


def finals(course: Path, week: str) -> dict[str, str]:
    with (course / "build" / week / "scores.csv").open(newline="") as lines:
        return {row["student"]: row["final"] for row in csv.DictReader(lines)}


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_a_download_without_the_earlier_submissions_is_refused_and_changes_nothing(
    class_of_two: tuple[Path, Path], tmp_path: Path
) -> None:
    course, hand_ins = class_of_two
    accept_sort(course, "ben", tmp_path / "mail")
    grade(course, hand_ins, "week1")
    before = contents(course / "build" / "week1")
    hand_in(tmp_path / "late", "week1", "cem", RIGHT["week1"], IN_TIME, {})
    said = grade(course, tmp_path / "late", "week1", expected=2)
    assert "has the report of 2 submissions that are not in" in said
    assert "ada and ben; grade a folder with all submissions, or choose another --out" in said
    assert contents(course / "build" / "week1") == before
    shutil.copytree(tmp_path / "late" / "week1", hand_ins / "week1", dirs_exist_ok=True)
    assert "1 graded, 2 kept from before" in grade(course, hand_ins, "week1")
    assert finals(course, "week1") == {"ada": "60.00", "ben": "60.00", "cem": "60.00"}


def test_a_submission_that_was_taken_out_on_purpose_is_left_out_by_name(class_of_two: tuple[Path, Path]) -> None:
    course, hand_ins = class_of_two
    grade(course, hand_ins, "week1")
    shutil.rmtree(hand_ins / "week1" / "ben")
    assert "add --leave-out ben" in grade(course, hand_ins, "week1", expected=2)
    grade(course, hand_ins, "week1", more=("--leave-out", "ben"))
    assert list(finals(course, "week1")) == ["ada"]
    grade(course, hand_ins, "week1")


def test_who_has_only_an_accepted_file_and_who_gets_another_id_are_not_missed(
    class_of_two: tuple[Path, Path], tmp_path: Path
) -> None:
    course, hand_ins = class_of_two
    accept_sort(course, "zoe", tmp_path / "mail")
    grade(course, hand_ins, "week1")
    assert json.loads((course / "build" / "week1" / "run.json").read_text())["accepted"] == ["zoe"]
    run(course, "accept", "zoe", "--withdraw", "--assignment", "week1", *BY)
    (course / "roster.csv").write_text("student,login\nada,\nb42,ben\n")
    said = grade(course, hand_ins, "week1")
    assert "ben is graded as b42 now: the files are the same" in said
    assert list(finals(course, "week1")) == ["ada", "b42"]


def test_an_output_folder_of_another_assignment_is_refused(class_of_two: tuple[Path, Path]) -> None:
    course, hand_ins = class_of_two
    grade(course, hand_ins, "week1")
    before = contents(course / "build" / "week1")
    into = ("--layout", "nbgrader", "--out", "build/week1", "--seed", "5", *tiny.TRUSTED)
    for chosen, now in ((("--assignment", "week2"), "week2"), (("--take", "1"), SORT), ((), "the whole course")):
        said = run(course, "grade", str(hand_ins / "week1"), "--student", "ada", *chosen, *into, expected=2)
        assert f"build/week1 has the reports of week1, and this run is of {now}, so it would replace them" in said
    assert contents(course / "build" / "week1") == before


@pytest.mark.parametrize(
    ("old", "new"),
    [("cpu_seconds = 1", "cpu_seconds = 2"), ('forbidden = ["sorted", ', 'forbidden = ["sorted", "map", ')],
)
def test_a_run_is_not_exported_once_its_checks_have_changed(
    class_of_two: tuple[Path, Path], old: str, new: str
) -> None:
    course, hand_ins = class_of_two
    grade(course, hand_ins, "week1")
    hints = course / "tests" / "exercises" / "hints" / f"{SORT}.toml"
    tiny.replaced(hints, "Each number moves left until", "A number moves left until")
    scores = ("export", "scores", "build/week1", "--to", "build/scores.csv")
    run(course, *scores)
    tiny.replaced(course / "course.toml", old, new)
    said = run(course, *scores, expected=2)
    assert f"limits or sizes of {SORT} have changed since it was graded; run the same course grade again" in said
    grade(course, hand_ins, "week1")
    run(course, *scores)


def test_what_is_accepted_for_an_assignment_is_listed_and_withdrawn_without_naming_it(
    class_of_two: tuple[Path, Path], tmp_path: Path
) -> None:
    course, _ = class_of_two
    accept_sort(course, "ben", tmp_path / "mail")
    assert f"ben in week1: {SORT}.py was accepted by Grace on" in run(course, "accept", "--list")
    assert "Nothing is accepted" in run(course, "accept", "--list", "--assignment", "week2")
    refused = run(course, "accept", "ben", str(tmp_path), "--assignment", "wek1", *BY, expected=2)
    assert "did you mean week1?" in refused
    assert f"{SORT}.py of ben no longer counts in week1" in run(course, "accept", "ben", "--withdraw", *BY)
    assert "Nothing is accepted" in run(course, "accept", "--list")


def test_grading_says_what_its_table_does_not_show(class_of_two: tuple[Path, Path]) -> None:
    course, hand_ins = class_of_two
    hand_in(hand_ins, "week1", "cem", RIGHT["week1"], timedelta(hours=30), {})
    (course / "roster.csv").write_text("student\nada\nben\ncem\ndee\n")
    said = grade(course, hand_ins, "week1")
    assert "1 final score in scores.csv differs from the total as graded: lateness, decisions or the rules" in said
    assert "1 student on the roster handed in nothing: dee" in said
    (course / "roster.csv").unlink()
    shutil.rmtree(hand_ins / "week1" / "cem")
    said = grade(course, hand_ins, "week1", more=("--leave-out", "cem"))
    assert "handed in nothing" not in said
    assert "as graded" not in said


@pytest.mark.long
def test_the_summary_is_of_everybody_where_the_table_is_not(class_of_two: tuple[Path, Path]) -> None:
    course, hand_ins = class_of_two
    for number in range(60):
        shutil.copytree(hand_ins / "week1" / "ada", hand_ins / "week1" / f"c{number:02}")
    (hand_ins / "week1" / "zed" / "term").mkdir(parents=True)
    hand_in(hand_ins, "week1", "wim", WRONG_SORT, IN_TIME, {})
    for counts in ("64 graded, 0 kept", "0 graded, 64 kept"):
        said = grade(course, hand_ins, "week1", expected=4)
        assert counts in said
        assert "first 60 of 64 submissions; scores.csv has all of them" in said
        assert "Class: 64 submissions, 1 without a score, 61 with full marks, mean 58.1 of 60 points" in said
        assert "Needs a look: zed: held, no score: it is empty." in said


def test_a_held_submission_is_no_longer_held_once_somebody_decides(class_of_two: tuple[Path, Path]) -> None:
    course, hand_ins = class_of_two
    (hand_ins / "week1" / "ben" / "term" / f"{SORT}.py").unlink()
    (hand_ins / "week1" / "ben" / "term" / FILES["week2"]).rename(hand_ins / "essay.txt")
    said = grade(course, hand_ins, "week1", expected=4)
    assert "no file of the assignment that could be read, and is held back without a score: ben" in said
    run(course, "adjust", "ben", "week1", "points", "10", "--text", "on paper", "--by", "Grace")
    said = grade(course, hand_ins, "week1")
    assert "held" not in said
    assert "ben: 10 of 60 points" in said
    assert "Class: 2 submissions, 1 with full marks, mean 35.0 of 60 points" in said
    assert finals(course, "week1") == {"ada": "60.00", "ben": "10.00"}


WORKSHEET = """\
Identifier,Full name,Grade,Last modified (submission)
Participant 7,Ada,,"Monday, 9 March 2026, 9:15 PM"
Participant 8,Ben,,-
Participant 99,Somebody else,,"Monday, 9 March 2026, 9:15 PM"
"""
CANVAS = """while(1);[{"user_id": 7, "submitted_at": "2026-03-09T21:15:00Z"}, {"user_id": 8, "submitted_at": null}]"""


@pytest.mark.parametrize("source", ["moodle.csv", "canvas.json", "folder"])
def test_a_penalty_without_a_time_is_said_and_the_command_takes_the_times(
    class_of_two: tuple[Path, Path], source: str
) -> None:
    course, hand_ins = class_of_two
    (course / "roster.csv").write_text("student,lms_id\nada,7\nben,8\n")
    (hand_ins / "week1" / "ada" / "term" / "timestamp.txt").unlink()
    found = "no late penalty: 1 of 2 submissions to week1 has no known time (ada); add the times: course adjust"
    assert found in grade(course, hand_ins, "week1", expected=4)
    assert found in run(course, "export", "scores", "build/week1", "--to", "scores.csv", expected=4)
    assert f"week1: {found}" in run(course, "export", "scores", "build", "--to", "term.csv", expected=4)
    assert finals(course, "week1")["ada"] == "60.00"
    (course / "moodle.csv").write_text(WORKSHEET)
    (course / "canvas.json").write_text(CANVAS)
    (course / "folder").mkdir()
    (course / "folder" / "ada.zip").touch()
    late = datetime(2026, 3, 9, 21, 15, tzinfo=UTC).timestamp()
    os.utime(course / "folder" / "ada.zip", (late, late))
    said = run(course, "adjust", "--times", source, "--assignment", "week1", "--by", "Grace")
    assert "1 row added" in said
    assert f"1 student without a time in {source}: ben" in said
    assert ("of nobody on the roster: 99" in said) == (source == "moodle.csv")
    assert "0 rows added" in run(course, "adjust", "--times", source, "--assignment", "week1", "--by", "Grace")
    assert "late penalty" not in grade(course, hand_ins, "week1")
    assert finals(course, "week1")["ada"] == "48.00", "two days late: 20 % of the maximum"
    assert "late penalty" not in run(course, "export", "scores", "build", "--to", "term.csv")


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.json", "{}", None),
        ("a.json", "[1]", "a.json cannot be read"),
        ("a.json", '[{"user_id": 7, "submitted_at": "soon"}]', "a.json has the time soon of user 7"),
        ("a.json", "while(1);", "expected the submissions of one assignment"),
        ("a.csv", "Identifier,Grade\nParticipant 7,1\n", "expected a column last modified (submission)"),
        ("a.csv", WORKSHEET.replace("Monday", "Montag"), "a.csv:2: the time is Montag, 9 March 2026, 9:15 PM"),
        ("none.csv", None, "none.csv cannot be read"),
    ],
)
def test_a_source_of_times_that_cannot_be_read_is_a_sentence(
    tmp_path: Path, name: str, text: str | None, found: str | None
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    roster = Roster((Student("ada", lms_id="7"),))
    if found is None:
        assert read_times(tmp_path / name, roster).without == ("ada",)
        return
    with pytest.raises(UsageError, match=re.escape(found)):
        read_times(tmp_path / name, roster)


def test_times_that_cannot_be_true_need_a_look(class_of_two: tuple[Path, Path]) -> None:
    course, hand_ins = class_of_two
    for student, time in (("ada", "2999-03-01 10:00:00 UTC"), ("ben", "1980-01-01 00:00:00 UTC")):
        (hand_ins / "week1" / student / "term" / "timestamp.txt").write_text(time)
    said = grade(course, hand_ins, "week1", expected=4)
    assert "1 submission to week1 has a time in the future (ada)" in said
    assert "1 submission to week1 has a time before 2025-03-07, when work could begin (ben)" in said


def test_more_days_without_a_due_date_are_not_taken_in_silence(tmp_path: Path) -> None:
    course = tiny.copied(tmp_path / "course")
    why = ("--text", "ill", "--by", "Grace")
    said = run(course, "adjust", "ada", "*", "extension", "2", *why)
    assert "ada: the whole has no due date, so this changes nothing; add due to course.toml" in said
    read, roster = read_course(course), Roster((Student("ada"), Student("bob", extension_days=3)))
    policy = policy_of(read, roster, read_adjustments(read))
    found = "there is no due date, so more days change nothing for bob and ada; add due to [grading]"
    assert without_effect(policy) == [found]
    rules = replace(policy, grading=Grading(drop_lowest=2, due=datetime(2026, 3, 1)))
    assert without_effect(rules) == [
        "drop_lowest is 2, and this run has 2 exercises that can be dropped; one is always kept"
    ]


def test_who_is_no_longer_on_the_roster_is_noted_in_the_table_of_the_term(class_of_two: tuple[Path, Path]) -> None:
    course, hand_ins = class_of_two
    grade(course, hand_ins, "week1")
    (course / "roster.csv").write_text("student\nada\n")
    run(course, "export", "scores", "build", "--to", "term.csv")
    with (course / "term.csv").open(newline="") as lines:
        assert {row["student"]: row["notes"] for row in csv.DictReader(lines)} == {
            "ada": "",
            "ben": "not on the roster",
        }


def test_more_points_than_there_are_get_a_warning(class_of_two: tuple[Path, Path]) -> None:
    course, _ = class_of_two
    why = ("--text", "bonus", "--by", "Grace")
    assert "60 points for exercise 01 are more" not in run(course, "adjust", "ada", "1", "points", "60", *why)
    said = run(course, "adjust", "ada", "1", "points", "99", *why)
    assert "ada: 99 points for exercise 01 are more than its 60, and they count" in said
    said = run(course, "adjust", "ada", "week2", "points", "41", *why)
    assert "41 points for week2 are more than its 40" in said


def test_decisions_leave_no_file_of_their_own_beside_the_course(
    class_of_two: tuple[Path, Path], tmp_path: Path
) -> None:
    course, _ = class_of_two
    before = {file.name for file in course.iterdir()}
    run(course, "adjust", "ada", "1", "points", "60", "--text", "by hand", "--by", "Grace")
    accept_sort(course, "ben", tmp_path / "mail")
    assert {file.name for file in course.iterdir()} - before == {"adjustments.csv", "accepted", ".course"} - before
    assert sorted(file.name for file in (course / "accepted").iterdir()) == ["ben", "log.csv"]
