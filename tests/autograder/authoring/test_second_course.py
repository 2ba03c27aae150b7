"""The course in examples/autodiff, which needs no torch: it is proved, graded and released by the public commands."""

import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from autograder.answer_key import patched, read_catalogue
from autograder.course import read_course
from tests.support import tiny

pytestmark = pytest.mark.worker

ROOT = Path(__file__).parents[3] / "examples" / "autodiff"
COURSE = read_course(ROOT)
IDS = [exercise.id for exercise in COURSE.exercises]

FEWEST_MISCONCEPTIONS = 12
FEWEST_VARIANTS = 3


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the course, so that its answer keys stay out of the checkout."""
    ignored = shutil.ignore_patterns(".course", "__pycache__")
    return Path(shutil.copytree(ROOT, tmp_path_factory.mktemp("second") / "autodiff", ignore=ignored))


def source(folder: str, exercise: str) -> str:
    return (ROOT / folder / f"{exercise}.py").read_text("utf-8")


def wrong_program(exercise: str, misconception: str) -> str:
    """Return the solution with a misconception."""
    solution = source("solutions", exercise)
    entries = read_catalogue(ROOT / "solutions" / "misconceptions" / f"{exercise}.toml", solution)
    return patched(solution, next(entry for entry in entries if entry.id == misconception))


def test_its_stubs_and_notebooks_fit_its_solutions(course: Path) -> None:
    done = tiny.run_course(course, "build", "--check")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="module")
def proofs(course: Path) -> dict[str, Any]:
    done = tiny.run_course(course, "validate", "--json", "-")
    assert done.returncode == 0, done.stderr
    return {proof["id"]: proof for proof in json.loads(done.stdout)["exercises"]}


@pytest.mark.slow
@pytest.mark.parametrize("exercise", IDS)
def test_an_exercise_holds(proofs: dict[str, Any], exercise: str) -> None:
    found = proofs[exercise]
    assert found["problems"] == []
    assert found["misconceptions"] >= FEWEST_MISCONCEPTIONS
    assert found["caught"] == found["named"] == found["alone"] == found["misconceptions"]
    assert found["accepted"] == found["accepted_full"] >= FEWEST_VARIANTS
    assert set(found["empty"].values()) == {0}


def test_a_class_is_graded(course: Path, tmp_path: Path) -> None:
    wrong = {"ex02_graph": "graph-order-by-number", "ex03_backward": "backward-assigns"}
    programs = {
        "right": {exercise: source("solutions", exercise) for exercise in IDS},
        "wrong": {exercise: wrong_program(exercise, misconception) for exercise, misconception in wrong.items()},
        "stubs": {exercise: source("exercises", exercise) for exercise in IDS},
    }
    for student, files in programs.items():
        (tmp_path / "class" / student).mkdir(parents=True)
        for exercise, text in files.items():
            (tmp_path / "class" / student / f"{exercise}.py").write_text(text, "utf-8")
    out = tmp_path / "grades"
    done = tiny.run_course(
        course, "grade", str(tmp_path / "class"), "--out", str(out), "--seed", "5", "--isolation", "process"
    )
    assert done.returncode == 0, done.stderr
    reports = tiny.timeless(out)
    scores = {name.removesuffix(".json"): report["score"] for name, report in reports.items()}
    assert (scores["right"], scores["stubs"]) == (100_00, 0)
    assert 0 < scores["wrong"] < 35_00  # hundredths: two exercises of 15 and 20 points, each with one mistake
    text = json.dumps(reports["wrong.json"])
    assert all(misconception in text for misconception in wrong.values())


@pytest.mark.slow
def test_a_kit_checks_without_the_solutions(course: Path, tmp_path: Path) -> None:
    kit = tmp_path / "kit"
    done = tiny.run_course(course, "release", str(kit))
    assert done.returncode == 0, done.stderr
    assert not (kit / "solutions").exists()
    project = tomllib.loads((kit / "pyproject.toml").read_text("utf-8"))["project"]
    assert not any(name.startswith("torch") for name in project["dependencies"])
    (kit / "exercises" / "ex03_backward.py").write_text(wrong_program("ex03_backward", "backward-assigns"), "utf-8")
    done = tiny.run_course(kit, "check", "03")
    assert done.returncode == 1
    assert "A gradient is assigned, not added." in done.stdout
    assert "ex03_backward.py:" in done.stdout
