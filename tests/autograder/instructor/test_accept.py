"""`course accept`: a corrected file of one student counts from the next grading on, with who, when and why."""

import csv
import json
from pathlib import Path

import pytest

from autograder.course import read_course
from autograder.exports.feedback import feedback
from autograder.gradebook import Roster, read_graded
from tests.support import tiny

pytestmark = pytest.mark.worker

FIRST, SECOND = (f"{name}.py" for name in (tiny.FIRST, tiny.SECOND))
WRONG = tiny.mean_with("return x.cumsum(dim=-1)")
BY = ("--reason", "wrong file uploaded", "--by", "Grace")


def run(school: Path, *arguments: str, expected: int = 0) -> str:
    done = tiny.run_course(school / "course", *arguments)
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout + done.stderr


def grade(school: Path, expected: int = 0) -> str:
    out = ("--out", str(school / "out"), "--seed", "5", "--plain", "--jobs", "2")
    return run(school, "grade", str(school / "hand_in"), *out, *tiny.TRUSTED, expected=expected)


def finals(school: Path) -> dict[str, str]:
    with (school / "out" / "scores.csv").open(newline="") as lines:
        return {row["student"]: row["final"] for row in csv.DictReader(lines)}


def page(school: Path, student: str) -> str:
    graded = read_graded(read_course(school / "course"), Roster(), school / "out", [student])
    return feedback(graded, graded.marks[0])


def is_due(school: Path) -> bool:
    graded = read_graded(read_course(school / "course"), Roster(), school / "out")
    note = "accepted/log.csv was changed since 1 student was graded: bob; "
    return any(one.startswith(note) for one in graded.notes)


def written(folder: Path, name: str, text: str) -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return str(folder / name)


@pytest.fixture
def school(tmp_path: Path, key_cache: Path) -> Path:
    tiny.copied(tmp_path / "course", key_cache)
    tiny.handed_in(tmp_path / "hand_in" / "ada")
    tiny.handed_in(tmp_path / "hand_in" / "bob", WRONG, tiny.POWER_ALONE)
    return tmp_path


def test_a_corrected_file_counts_and_the_page_says_what_changed(school: Path, tmp_path: Path) -> None:
    grade(school)
    assert finals(school) == {"ada": "100.00", "bob": "60.00"}
    original = (school / "hand_in" / "bob" / FIRST).read_bytes()
    said = run(school, "accept", "bob", written(tmp_path / "mail", "fixed.py", tiny.MEAN), "--as", FIRST, *BY)
    assert f"{FIRST} of bob is accepted by Grace and kept in accepted/bob/001/fixed.py" in said
    assert is_due(school)
    said = grade(school)
    assert not is_due(school)
    assert "1 graded, 1 kept from before" in said
    assert "Changed since the last table: 1 mark\n  bob  60.00 of 100.00 → 100.00 of 100.00\n" in said
    assert finals(school)["bob"] == "100.00"
    assert (school / "hand_in" / "bob" / FIRST).read_bytes() == original
    text = page(school, "bob")
    assert "What changed" in text
    assert "0 of 40" in text
    assert "was accepted by Grace on" in text
    assert "wrong file uploaded" in text
    assert "What changed" not in page(school, "ada")
    said = grade(school)
    assert "0 graded, 2 kept" in said
    assert "Changed" not in said
    assert "bob: ex01_running_mean.py was accepted by Grace" in run(school, "accept", "--list")
    said = run(school, "accept", "bob", "--withdraw", "--reason", "it was another student's", "--by", "Grace")
    assert f"{FIRST} of bob no longer counts" in said
    assert is_due(school)
    grade(school)
    assert finals(school)["bob"] == "60.00"
    assert (school / "course" / "accepted" / "bob" / "001" / "fixed.py").is_file()


def test_a_file_counts_for_one_member_of_a_group_and_it_is_said_or_for_all(school: Path, tmp_path: Path) -> None:
    (school / "course" / "roster.csv").write_text("student,group\nada,\nbob,Red Team\neve,Red Team\n")
    mended = (written(tmp_path / "mail", FIRST, tiny.MEAN), *BY)
    said = run(school, "accept", "bob", *mended)
    assert "counts for bob alone, not for eve; for the whole group: `course accept 'Red Team' FILE`" in said
    assert "alone" not in run(school, "accept", "ada", *mended)
    said = run(school, "accept", "Red Team", *mended)
    assert f"{FIRST} of eve is accepted" in said
    assert "alone" not in said
    grade(school)
    assert finals(school) == {"ada": "100.00", "bob": "100.00", "eve": "100.00"}
    said = run(school, "accept", "Red Team", "--withdraw", *BY)
    assert f"{FIRST} of bob no longer counts" in said
    assert f"{FIRST} of eve no longer counts" in said
    assert "Red Team" not in run(school, "accept", "--list")


def test_a_module_that_is_accepted_takes_the_place_of_a_notebook_too(school: Path, tmp_path: Path) -> None:
    book = {"cells": [{"cell_type": "code", "source": WRONG}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (school / "hand_in" / "bob" / FIRST).unlink()
    (school / "hand_in" / "bob" / FIRST.replace(".py", ".ipynb")).write_text(json.dumps(book))
    grade(school)
    assert finals(school)["bob"] == "60.00"
    run(school, "accept", "bob", written(tmp_path / "mail", FIRST, tiny.MEAN), *BY)
    grade(school)
    assert finals(school)["bob"] == "100.00"


def test_a_whole_hand_in_replaces_a_held_one_and_stands_in_for_a_missing_one(school: Path, tmp_path: Path) -> None:
    (school / "hand_in" / "eve.zip").write_bytes(b"no zip")
    grade(school, expected=4)
    assert finals(school)["eve"] == ""
    tiny.handed_in(tmp_path / "mail" / "eve")
    run(school, "accept", "eve", str(tmp_path / "mail" / "eve"), *BY)
    (school / "course" / "roster.csv").write_text("student\nada\nbob\neve\nmax\n")
    tiny.handed_in(tmp_path / "mail" / "max", tiny.MEAN, tiny.POWER_ALONE)
    run(school, "accept", "max", str(tmp_path / "mail" / "max"), *BY)
    run(school, "accept", "max", written(tmp_path / "mail", FIRST, WRONG), *BY)
    grade(school)
    assert finals(school) == {"ada": "100.00", "bob": "60.00", "eve": "100.00", "max": "60.00"}


def test_work_accepted_for_an_unknown_student_is_reported_and_costs_nobody_else_anything(
    school: Path, tmp_path: Path
) -> None:
    run(school, "accept", "zoe", written(tmp_path / "mail", FIRST, tiny.MEAN), *BY)
    (school / "course" / "roster.csv").write_text("student\nada\nbob\n")
    said = grade(school, expected=4)
    assert "accepted/log.csv has zoe, who handed in nothing and is not listed" in said
    assert finals(school) == {"ada": "100.00", "bob": "60.00"}


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("bob", "mail/fixed.py", *BY), "fixed.py is no file of the course; say which one it is, like --as ex"),
        (("bob", "mail/nothing.zip", *BY), "is not there, expected a file, a folder or a zip"),
        (("bob", "mail", "--as", FIRST, *BY), "is a whole hand-in, and --as names a single file"),
        (("bob", "mail/fixed.py", "--as", FIRST), "course accept has no --reason TEXT, which the student reads"),
        (("bop", "mail/fixed.py", "--as", FIRST, *BY), "bop is no student of the roster; did you mean bob?"),
        (("../bob", "mail/fixed.py", "--as", FIRST, *BY), "has a name that cannot be a student's"),
        (("bob", "--withdraw", *BY), "nothing is accepted for bob; `course accept --list` shows what is"),
        ((), "course accept has no student; "),
    ],
)
def test_a_mistake_gets_a_sentence_and_nothing_is_accepted(
    school: Path, arguments: tuple[str, ...], found: str
) -> None:
    (school / "course" / "roster.csv").write_text("student\nada\nbob\n")
    written(school / "course" / "mail", "fixed.py", tiny.MEAN)
    assert found in run(school, "accept", *arguments, expected=2)
    assert not list((school / "course").glob("accepted/*/*"))


def test_a_log_that_leads_out_of_its_folder_is_refused(school: Path, tmp_path: Path) -> None:
    run(school, "accept", "bob", written(tmp_path / "mail", FIRST, tiny.MEAN), *BY)
    log = school / "course" / "accepted" / "log.csv"
    log.write_text(log.read_text().replace("bob/001/", "../../mail/"))
    said = grade(school, expected=2)
    assert f"log.csv:2: names ../../mail/{FIRST}, which is not in accepted/; correct the line" in said
