"""Scores in nbgrader's gradebook, read back by nbgrader itself."""

import csv
import os
import shutil
import sqlite3
import subprocess
import sys
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.exports.nbgrader import open_gradebook, penalties, write_gradebook
from autograder.gradebook import ExportError, Graded, Mark, Student
from autograder.gradebook.policy import Final, Lateness
from autograder.results import Report
from tests.support import export_examples as examples
from tests.support import tiny

pytestmark = [
    pytest.mark.nbgrader,
    pytest.mark.worker,
    pytest.mark.skipif(find_spec("nbgrader") is None, reason="pip install -e '.[nbgrader]'"),
]

ASSIGNMENT = "a01"
POSTGRES = os.environ.get("COURSE_TEST_POSTGRES")
"""The URL of an empty PostgreSQL database, to run the same on it."""

bounded = settings(max_examples=200, derandomize=True, deadline=None, database=None)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return examples.graded_class(tmp_path_factory.mktemp("nbgrader"))


@pytest.fixture(scope="module")
def graded(course: Path) -> Graded:
    return examples.read(course)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty gradebook; making one takes nbgrader seconds."""
    file = tmp_path_factory.mktemp("empty") / "gradebook.db"
    with open_gradebook(f"sqlite:///{file}"):
        return file


@pytest.fixture(scope="module")
def written(course: Path, graded: Graded, empty: Path) -> Path:
    """nbgrader's course folder, with the gradebook and the notebooks of the class."""
    folder = course.parent / "nbgrader"
    folder.mkdir()
    shutil.copy(empty, folder)
    write_gradebook(graded, f"sqlite:///{folder}/gradebook.db", ASSIGNMENT, "t101", folder / "autograded")
    return folder


@pytest.fixture
def url(written: Path, tmp_path: Path) -> str:
    """A copy of the gradebook, to go on with."""
    return f"sqlite:///{shutil.copy(written / 'gradebook.db', tmp_path)}"


def nbgrader(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=folder,
        env=tiny.environment({"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def grade(gradebook: Any, exercise: str, student: str) -> Any:
    return gradebook.find_grade(exercise, exercise, ASSIGNMENT, student)


def again(course: Path, url: str, first: Any) -> Any:
    """Export once more, after the first exercise of bob became another; return what was written."""
    out = course.parent / "again"
    reports = {**examples.REPORTS, "bob": examples.report("bob", first)}
    examples.write_out(course, out, reports)
    from autograder.course import read_course
    from autograder.gradebook import read_graded, read_roster

    read = read_course(course)
    return write_gradebook(read_graded(read, read_roster(read, None), out), url, ASSIGNMENT)


def test_nbgrader_exports_the_same_scores(written: Path) -> None:
    nbgrader(written, "export", "--db", f"sqlite:///{written}/gradebook.db", "--to", "grades.csv")
    with (written / "grades.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    scores = {student: round(float(row["score"]) * 100) for student, row in rows.items()}
    assert {**scores, "fay": None, "zoe": None} == examples.SCORES
    assert (rows["bob"]["raw_score"], rows["bob"]["late_submission_penalty"]) == ("71.43", "20.0")
    assert rows["bob"]["timestamp"] == "2026-03-03 00:10:00"
    assert {row["duedate"] for row in rows.values()} == {"2026-03-01 23:59:00"}
    assert {row["max_score"] for row in rows.values()} == {"100.0"}
    assert (rows["zoe"]["timestamp"], rows["zoe"]["last_name"], rows["zoe"]["first_name"]) == ("", "'=Zoe", "Q Smith")


def test_what_the_grader_failed_on_is_left_for_a_person(url: str) -> None:
    with open_gradebook(url) as gradebook:
        failed, other = (grade(gradebook, exercise, "fay") for exercise in tiny.FULL)
        assert (failed.auto_score, failed.needs_manual_grade) == (None, True)
        assert (other.auto_score, other.needs_manual_grade) == (60.0, False)
        assert not gradebook.student_submissions("zoe"), "who handed in nothing has no submission"


PARTLY = (
    "the exercises that were judged have their scores in the gradebook, and formgrader asks a person for the others: "
    "fay"
)


def test_who_has_no_score_but_scores_in_some_cells_is_named(graded: Graded, url: str) -> None:
    assert write_gradebook(graded, url, ASSIGNMENT).notes == (PARTLY,)


def test_an_extension_of_the_roster_is_one_in_the_gradebook(url: str) -> None:
    with open_gradebook(url) as gradebook:
        assert gradebook.find_submission(ASSIGNMENT, "fay").total_seconds_late == 0
        assert gradebook.find_submission(ASSIGNMENT, "bob").total_seconds_late == 24 * 3600 + 11 * 60


def test_a_second_export_of_the_same_changes_nothing(graded: Graded, url: str) -> None:
    found = write_gradebook(graded, url, ASSIGNMENT)
    assert (found.students, found.submissions, found.grades, found.changed) == (0, 0, 0, 0)


def test_a_second_export_brings_what_is_new(course: Path, url: str) -> None:
    found = again(course, url, {})
    assert (found.submissions, found.grades) == (0, 0)
    with open_gradebook(url) as gradebook:
        assert grade(gradebook, tiny.FIRST, "bob").score == 40.0
        assert gradebook.find_submission(ASSIGNMENT, "bob").score == 100.0


def test_a_score_entered_by_hand_stays_and_needs_manual_grading_where_ours_has_changed(course: Path, url: str) -> None:
    with open_gradebook(url) as gradebook:
        for exercise in tiny.FULL:
            grade(gradebook, exercise, "bob").manual_score = 30.0
        comment = gradebook.find_comment(tiny.FIRST, tiny.FIRST, ASSIGNMENT, "bob")
        comment.manual_comment = "well tried"
        gradebook.db.commit()
    again(course, url, {})
    with open_gradebook(url) as gradebook:
        first, second = (grade(gradebook, exercise, "bob") for exercise in tiny.FULL)
        assert (first.score, first.auto_score, first.needs_manual_grade) == (30.0, 40.0, True)
        assert (second.score, second.auto_score, second.needs_manual_grade) == (30.0, 60.0, False)
        assert gradebook.find_comment(tiny.FIRST, tiny.FIRST, ASSIGNMENT, "bob").comment == "well tried"


@pytest.mark.filterwarnings("ignore:Object of type <Submitted")
def test_the_cells_of_a_released_notebook_are_filled_and_its_others_left(
    graded: Graded, empty: Path, tmp_path: Path
) -> None:
    url = f"sqlite:///{shutil.copy(empty, tmp_path)}"
    with open_gradebook(url) as gradebook:
        gradebook.check_course("t101")
        gradebook.add_assignment(ASSIGNMENT, course_id="t101")
        gradebook.add_notebook(tiny.FIRST, ASSIGNMENT)
        gradebook.add_grade_cell("check", tiny.FIRST, ASSIGNMENT, max_score=40, cell_type="code")
        gradebook.add_grade_cell("why", tiny.FIRST, ASSIGNMENT, max_score=3, cell_type="markdown")
        for name in ("code", "why"):
            gradebook.add_solution_cell(name, tiny.FIRST, ASSIGNMENT)
        gradebook.add_source_cell("check", tiny.FIRST, ASSIGNMENT, cell_type="code")
        gradebook.add_student("ada")
        gradebook.add_submission(ASSIGNMENT, "ada")
    write_gradebook(graded, url, ASSIGNMENT)
    with open_gradebook(url) as gradebook:
        for student, score in (("ada", 40.0), ("eve", 11.43)):
            assert gradebook.find_grade("check", tiny.FIRST, ASSIGNMENT, student).score == score
            by_hand = gradebook.find_grade("why", tiny.FIRST, ASSIGNMENT, student)
            assert (by_hand.auto_score, by_hand.needs_manual_grade) == (None, True)
            assert gradebook.find_comment("code", tiny.FIRST, ASSIGNMENT, student).comment.lstrip()
            assert gradebook.find_comment("why", tiny.FIRST, ASSIGNMENT, student).comment is None
        gradebook.find_grade_cell("check", tiny.FIRST, ASSIGNMENT).max_score = 4
        gradebook.db.commit()
    with pytest.raises(
        ExportError, match="the cell check of the notebook ex01_running_mean has 4 points in the gradebook, and"
    ):
        write_gradebook(graded, url, ASSIGNMENT)


def test_feedback_has_the_scores_and_the_words_of_nobody_become_markup(written: Path) -> None:
    nbgrader(written, "generate_feedback", ASSIGNMENT, "--student=eve", "--db", f"sqlite:///{written}/gradebook.db")
    page = (written / "feedback" / "eve" / ASSIGNMENT / f"{tiny.FIRST}.html").read_text("utf-8")
    assert "Score: 11.43 / 40.0" in page
    assert "the values are right" in page
    assert "alert('x')</script>" not in page
    assert "\u202e" not in page


def test_a_notebook_that_is_not_ours_stays(graded: Graded, written: Path, url: str, tmp_path: Path) -> None:
    theirs = tmp_path / "bob" / ASSIGNMENT / f"{tiny.FIRST}.ipynb"
    theirs.parent.mkdir(parents=True)
    theirs.write_text('{"metadata": {}, "cells": []}')
    written_now = write_gradebook(graded, url, ASSIGNMENT, None, tmp_path)
    assert theirs.read_text() == '{"metadata": {}, "cells": []}'
    assert written_now.notebooks == 2 * len(graded.with_report) - 1
    assert f"1 notebook in {tmp_path} is not ours, and kept" in written_now.notes
    assert write_gradebook(graded, url, ASSIGNMENT, None, tmp_path).notebooks == written_now.notebooks


def test_names_and_dates_of_others_are_not_replaced_in_silence(graded: Graded, url: str) -> None:
    with open_gradebook(url) as gradebook:
        gradebook.find_student("ada").email = "ada@home.org"
        gradebook.find_assignment(ASSIGNMENT).duedate = datetime(2026, 3, 2, 12, 0)
        gradebook.db.commit()
    was, now = "2026-03-02 12:00:00 UTC", "2026-03-01 23:59:00 UTC"
    assert write_gradebook(graded, url, ASSIGNMENT).notes == (
        f"the due date of {ASSIGNMENT} was {was} in the gradebook, and is {now} now",
        "1 student has another name, address or number now, that of the roster: ada",
        PARTLY,
    )
    assert write_gradebook(graded, url, ASSIGNMENT).notes == (PARTLY,)


def test_nothing_is_written_where_not_everything_can_be(course: Path, url: str) -> None:
    file = url.removeprefix("sqlite:///")
    before = list(sqlite3.connect(file).iterdump())
    writer = sqlite3.connect(file)
    writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(ExportError, match="was not changed: database is locked; if an older nbgrader made it"):
        again(course, f"{url}?timeout=0.1", {})
    writer.rollback()
    assert list(sqlite3.connect(file).iterdump()) == before


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("gradebook.db", "gradebook.db is not the URL of a database, expected one like sqlite:///gradebook.db"),
        ("sqlite:////nowhere/at/all.db", "cannot be opened: unable to open database file"),
        ("nosuch://me:secret@host/db", r"nosuch://me:\*\*\*@host/db"),
    ],
)
def test_what_is_no_gradebook_is_a_sentence_without_the_password(graded: Graded, url: str, expected: str) -> None:
    with pytest.raises(ExportError, match=expected):
        write_gradebook(graded, url, ASSIGNMENT)


def test_a_name_that_nbgrader_does_not_take_is_refused(graded: Graded, url: str) -> None:
    with pytest.raises(
        ExportError, match="'week 1' is not a name for nbgrader, expected at most 128 letters, digits, _ and -"
    ):
        write_gradebook(graded, url, "week 1")


def test_without_nbgrader_the_command_says_what_to_install(course: Path, tmp_path: Path) -> None:
    (tmp_path / "nbgrader.py").write_text("raise ImportError('No module named nbgrader')")
    arguments = ("export", "nbgrader", "../out", "--to", f"sqlite:///{tmp_path}/gradebook.db")
    done = tiny.run_course(course, *arguments, PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert "this export needs it; install it in the kit's folder: pip install -e '.[nbgrader]'" in done.stderr


@pytest.mark.skipif(POSTGRES is None, reason="COURSE_TEST_POSTGRES names no database")
def test_postgresql_holds_the_same(graded: Graded) -> None:
    assert POSTGRES is not None
    write_gradebook(graded, POSTGRES, ASSIGNMENT)
    assert write_gradebook(graded, POSTGRES, ASSIGNMENT).changed == 0
    with open_gradebook(POSTGRES) as gradebook:
        assert round(gradebook.find_submission(ASSIGNMENT, "bob").score, 2) == 71.43


@bounded
@given(st.lists(st.integers(0, 500), min_size=1, max_size=6), st.data())
def test_penalties_add_up_and_leave_no_exercise_below_0(scores: list[int], data: st.DataObject) -> None:
    penalty = data.draw(st.integers(0, sum(scores)))
    made = examples.result(tiny.FIRST, {})
    results = tuple(type(made)(f"ex{at:02}", "", "pass", score, 500, ()) for at, score in enumerate(scores))
    report = Report("", {"student": "ada"}, "", "cpu", "process", results)
    final = Final(sum(scores) - penalty, None, Lateness(1, penalty), ())
    shares = penalties(Mark(Student("ada"), report, final))
    assert sum(shares.values()) == penalty
    assert all(0 <= shares[result.id] <= result.score for result in results)
