"""Hand-ins that run in Jupyter and hand-ins in other files than the expected ones, graded as an instructor does."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from autograder.course import read_course
from autograder.exports.feedback import feedback
from autograder.gradebook import Roster, read_graded
from tests.support import tiny

pytestmark = pytest.mark.worker

FIRST, SECOND = tiny.FILES
STUB = (tiny.ROOT / "exercises" / FIRST).read_text("utf-8")
BOOK = FIRST.replace(".py", ".ipynb")


def book(*cells: str | dict[str, Any]) -> str:
    about: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    made = [{**about, "source": cell} if isinstance(cell, str) else cell for cell in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made})


RUNS = {
    "continued": ("!pip install torch \\\n    numpy", tiny.MEAN),
    "bare": ("pip install torch", "ls", "pwd", tiny.MEAN),
    "shown": (tiny.MEAN, "w = running_mean(torch.ones(2))\ndisplay(w)\nget_ipython().system('ls')"),
    "timed": (f"%%time\n%%capture out\n{tiny.MEAN}", "%time x = 1\nassert x == 1", "x?", "a = !ls"),
    "awaits": ("import asyncio\nawait asyncio.sleep(0.01)", tiny.MEAN),
}
ELSEWHERE = {"copy": f"{FIRST[:-3]} (1).py", "old": f"old/{FIRST}", "named": "homework.py", "capital": FIRST.upper()}
CONFLICT = tiny.MEAN.replace(tiny.RUNNING, f"<<<<<<< HEAD\n{tiny.RUNNING}\n=======\n    return x\n>>>>>>> other")
LEFT = book("import torch", {"cell_type": "markdown", "source": tiny.MEAN, "metadata": {}})


def grade(school: Path, expected: int) -> str:
    out = ("--out", str(school / "out"), "--seed", "5", "--jobs", "2", "--roster", str(school / "roster.csv"))
    done = tiny.run_course(school / "course", "grade", str(school / "hand_in"), *out, *tiny.TRUSTED)
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout + done.stderr


def rows(school: Path) -> dict[str, dict[str, str]]:
    with (school / "out" / "scores.csv").open(newline="") as lines:
        return {row["student"]: row for row in csv.DictReader(lines)}


def page(school: Path, student: str) -> str:
    graded = read_graded(read_course(school / "course"), Roster(), school / "out", [student])
    return feedback(graded, graded.marks[0])


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elsewhere")
    tiny.copied(folder / "course")
    hand_in = folder / "hand_in"
    for name, cells in RUNS.items():
        (tiny.handed_in(hand_in / name, None) / BOOK).write_text(book(*cells))
    for name, place in ELSEWHERE.items():
        other = tiny.handed_in(hand_in / name, STUB, tiny.POWER_ALONE) / place
        other.parent.mkdir(exist_ok=True)
        other.write_text(tiny.MEAN)
    script = f"get_ipython().run_line_magic('matplotlib', 'inline')\n{tiny.MEAN}\ndisplay(1)\n"
    tiny.handed_in(hand_in / "exported", script)
    tiny.handed_in(hand_in / "stub", STUB, tiny.POWER_ALONE)
    tiny.handed_in(hand_in / "conflict", CONFLICT, tiny.POWER_ALONE)
    colab = f"from google.colab import drive\ndrive.mount('/content/drive')\n{tiny.MEAN}"
    (tiny.handed_in(hand_in / "colab", None, tiny.POWER_ALONE) / BOOK).write_text(book(colab))
    (tiny.handed_in(hand_in / "left", None, tiny.POWER_ALONE) / BOOK).write_text(LEFT)
    tiny.handed_in(hand_in / "007")
    names = sorted(path.name for path in hand_in.iterdir() if path.name != "007")
    (folder / "roster.csv").write_text("student\n" + "\n".join([*names, "7"]) + "\n")
    (folder / "said").write_text(grade(folder, 4))
    return folder


def summary(school: Path) -> str:
    return " ".join((school / "said").read_text().split())


@pytest.mark.parametrize("student", [*RUNS, "exported"])
def test_what_runs_in_jupyter_has_its_points_and_is_no_row(school: Path, student: str) -> None:
    assert rows(school)[student]["final"] == "100.00"
    assert f"{student}: " not in summary(school).partition("Need")[2]


@pytest.mark.parametrize("student", ELSEWHERE)
def test_work_beside_a_stub_has_no_score_until_somebody_decides(school: Path, student: str) -> None:
    row = rows(school)[student]
    assert (row[tiny.FIRST], row[tiny.SECOND], row["final"]) == ("", "60.00", "")
    assert "held, no score for exercise 01" in row["notes"]
    assert f"{FIRST} counts and holds no work" in row["notes"]
    assert ELSEWHERE[student] in row["notes"]
    assert "It is not clear which of your files counts for an exercise" in page(school, student)
    assert "without problems" not in page(school, student)


def test_a_stub_alone_is_an_honest_zero(school: Path) -> None:
    assert rows(school)["stub"]["final"] == "60.00"
    assert "without problems" in page(school, "stub")


def test_what_loses_a_whole_file_is_named(school: Path) -> None:
    assert "Python cannot read ex01_running_mean.py: line " in summary(school)
    assert "has a merge conflict marker of git; keep one version" in summary(school)
    assert "Colab's own modules and drive exist only there" in summary(school)
    assert f"{BOOK}: cell 2 is a text cell, so its `running_mean` was left out" in summary(school)
    assert f"{BOOK} defines no running_mean" in page(school, "left")
    assert "write it in a code cell of its own" in page(school, "left")


def test_a_number_that_lost_its_zeros_is_the_same_student(school: Path) -> None:
    assert rows(school)["7"]["final"] == "100.00"
    found = "007 is 7 on the roster: a spreadsheet removes zeros before a number; correct the roster"
    assert found in summary(school)


def test_a_decision_ends_the_doubt(school: Path) -> None:
    copy = school / "hand_in" / "copy" / ELSEWHERE["copy"]
    by = ("--as", FIRST, "--reason", "a copy", "--by", "Grace", "--roster", str(school / "roster.csv"))
    done = tiny.run_course(school / "course", "accept", "copy", str(copy), *by)
    assert done.returncode == 0, done.stdout + done.stderr
    grade(school, 4)
    assert rows(school)["copy"]["final"] == "100.00"
    assert rows(school)["old"]["final"] == ""
