"""A course with a bonus exercise has one maximum: on the terminal, in tables, on pages and in exports."""

import csv
import json
import re
from pathlib import Path

import pytest

from tests.support import tiny

pytestmark = pytest.mark.worker


def test_every_place_has_the_same_maximum(tmp_path: Path, key_cache: Path) -> None:
    course = tiny.copied(tmp_path / "course", key_cache)
    settings = course / "course.toml"
    settings.write_text(f'{settings.read_text("utf-8")}\n[grading]\nbonus = ["{tiny.SECOND}"]\n', "utf-8")
    tiny.handed_in(tmp_path / "hand_in" / "ada")
    grade = ("grade", str(tmp_path / "hand_in"), "--out", "out", "--seed", "5", "--plain", *tiny.TRUSTED)
    (course / "roster.csv").write_text("student,lms_id\nada,1\n")
    (course / "canvas.csv").write_text('Student,ID,Week 1 (7)\nPoints Possible,,40\n"ada",1,\n')
    exports = (
        ("scores", "scores.csv"),
        ("feedback", "pages"),
        ("gradescope", "gradescope"),
        ("canvas", "filled.csv", "--into", "canvas.csv"),
    )
    said = run(course, *grade)
    assert "1 with full marks, mean 100.0 of 40 points" in said
    for name, to, *options in exports:
        run(course, "export", name, "out", "--to", to, *options)
    for table in ("out/scores.csv", "scores.csv"):
        with (course / table).open(newline="") as lines:
            (row,) = csv.DictReader(lines)
        assert (row["final"], row["max_score"], row["final_max"]) == ("100.00", "40.00", "40.00")
    assert "100 of 40 points" in (course / "pages" / "ada.html").read_text("utf-8")
    assert json.loads((course / "gradescope" / "ada.json").read_text())["extra_data"]["maximum"] == 40
    assert '"ada",1,100.00' in (course / "filled.csv").read_text()
    run(course, "dashboard", "out", "--names")
    page = (course / "out" / "class.html").read_text("utf-8")
    assert "100 of 40" in re.sub(r"<[^>]+>", "", page)


def run(course: Path, *arguments: str) -> str:
    done = tiny.run_course(course, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
