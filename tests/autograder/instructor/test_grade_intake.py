"""`course grade` on a download of Canvas, with a roster and due dates: from the zip to the table."""

import csv
import json
from pathlib import Path

import pytest

from tests.support import tiny
from tests.support.submission_examples import zipped

pytestmark = pytest.mark.worker

RULES = """
[grading]
due = 2026-03-01T12:00:00
time_zone = "Europe/Berlin"
late_percent = 10
"""
ROSTER = """\
student,name,lms_id,handed_in,extension_days
ada,Ada Lovelace,12,2026-03-03 11:00,1
bob,Bob Bo,13,2026-03-03 11:00,
zoe,Zoe Zed,14,,
"""


def test_a_download_is_graded_by_the_ids_of_the_roster_and_late_work_costs_points(tmp_path: Path) -> None:
    course = tiny.copied(tmp_path / "course")
    (course / "course.toml").write_text((course / "course.toml").read_text("utf-8") + RULES, "utf-8")
    (course / "roster.csv").write_text(ROSTER, "utf-8")
    book = json.dumps({"cells": [{"cell_type": "code", "source": tiny.MEAN}], "nbformat": 4}).encode()
    files = {
        f"lovelaceada_12_1_{tiny.FIRST}.ipynb": book,
        f"lovelaceada_12_2_{tiny.FILES[1]}": tiny.POWER.encode(),
        f"bobo_LATE_13_3_{tiny.FILES[0]}": tiny.MEAN.encode(),
        f"evee_15_4_{tiny.FILES[0]}": b"",
    }
    download = zipped(tmp_path / "submissions.zip", files)
    done = tiny.run_course(course, "grade", str(download), "--out", "out", "--jobs", "1", "--seed", "1", *tiny.TRUSTED)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"evee_15_4_{tiny.FILES[0]} is not on the roster; it is graded as 15" in done.stderr
    with (course / "out" / "scores.csv").open(newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert list(rows) == ["15", "ada", "bob", "zoe"]
    assert [rows["ada"][name] for name in ("score", "days_late", "penalty", "final")] == [
        "100.00",
        "1",
        "10.00",
        "90.00",
    ]
    assert [rows["bob"][name] for name in ("score", "days_late", "penalty", "final")] == [
        "40.00",
        "2",
        "20.00",
        "20.00",
    ]
    assert rows["zoe"]["notes"] == "missing: no submission"
    assert json.loads((course / "out" / "reports" / "bob.json").read_text())["score"] == 4000


def test_a_roster_with_a_mistake_stops_before_anything_is_graded(tmp_path: Path) -> None:
    course = tiny.copied(tmp_path / "course")
    (course / "mine.csv").write_text("student\nada\nada\n", "utf-8")
    folder = str(tiny.handed_in(tmp_path / "class" / "ada").parent)
    done = tiny.run_course(course, "grade", folder, "--out", "out", "--roster", "mine.csv", *tiny.TRUSTED)
    assert (done.returncode, done.stderr) == (2, "course: mine.csv:3: student ada is already in line 2\n")
    assert not (course / "out").exists()
