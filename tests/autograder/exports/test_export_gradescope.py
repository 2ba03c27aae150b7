"""Gradescope's autograder zip, built and run in a folder laid out like theirs."""

import json
import os
import re
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from autograder.exports.gradescope import Seen, gradescope
from autograder.protocol import SHIPPED
from tests.support import export_examples as examples
from tests.support import tiny

pytestmark = pytest.mark.worker

WRONG = tiny.mean_with("return x.cumsum(dim=-1)")
METADATA = {
    "id": 1,
    "created_at": "2026-03-02T01:00:00.000000+01:00",
    "assignment": {"due_date": "2026-03-01T23:59:00.000000+01:00", "id": 2, "title": "T", "total_points": "100.0"},
    "submission_method": "upload",
    "users": [{"email": "Zoe@Example.org", "id": 5, "name": "Zoe S."}],
    "previous_submissions": [],
}


FORMATS = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
SEEN = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
TEST = {
    "score": {"type": "number"},
    "max_score": {"type": "number", "minimum": 0},
    "status": {"enum": ["passed", "failed"]},
    "name": {"type": "string"},
    "name_format": FORMATS,
    "number": {"type": "string"},
    "output": {"type": "string"},
    "output_format": FORMATS,
    "tags": {"type": "array", "items": {"type": "string"}},
    "visibility": SEEN,
    "extra_data": {"type": "object"},
}
RESULTS = {
    "score": {"type": "number"},
    "execution_time": {"type": "number", "minimum": 0},
    "output": {"type": "string"},
    "output_format": FORMATS,
    "test_output_format": FORMATS,
    "test_name_format": FORMATS,
    "visibility": SEEN,
    "stdout_visibility": SEEN,
    "extra_data": {"type": "object"},
    "tests": {"type": "array", "items": {"type": "object", "properties": TEST, "additionalProperties": False}},
    "leaderboard": {"type": "array"},
}
SCHEMA = {
    "type": "object",
    "properties": RESULTS,
    "additionalProperties": False,
    "anyOf": [{"required": ["score"]}, {"required": ["tests"]}],
}
"""results.json as gradescope-autograders.readthedocs.io/en/latest/specs has it."""


@cache
def validator() -> Any:
    """Return the validator of SCHEMA: its library takes three seconds to import."""
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(SCHEMA)
    return Draft202012Validator(SCHEMA)


def assert_valid(found: Any) -> None:
    """Say everything that Gradescope would not understand."""
    assert [f"{error.json_path}: {error.message}" for error in validator().iter_errors(found)] == []


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = examples.graded_class(tmp_path_factory.mktemp("gradescope"))
    (course / "roster.csv").rename(course.parent / "roster.csv")
    (course / ".course").mkdir()
    (course / ".course" / "grading_seed").write_text("4711\n")
    to = course.parent / "autograder.zip"
    done = tiny.run_course(course, "export", "gradescope-autograder", "--to", str(to), "--roster", "../roster.csv")
    assert done.returncode == 0, done.stderr
    return to


@pytest.fixture(scope="module")
def container(archive: Path) -> Path:
    """What /autograder is there: the zip unpacked and set up, and a submission by zoe, a day late."""
    root = archive.parent / "autograder"
    (root / "results").mkdir(parents=True)
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(root / "source")
    (root / "run_autograder").write_bytes((root / "source" / "run_autograder").read_bytes())
    tiny.handed_in(root / "submission", WRONG, tiny.POWER_ALONE)
    (root / "submission_metadata.json").write_text(json.dumps(METADATA))
    done = run(root, root / "source" / "setup.sh")
    assert done.returncode == 0, done.stdout + done.stderr
    return root


def run(root: Path, script: Path, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(script)],
        cwd=root,
        env={
            **tiny.environment({"AUTOGRADER_ROOT": str(root), "AUTOGRADER_PYTHON": python}),
            "PATH": os.environ["PATH"],
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def results(root: Path) -> Any:
    return json.loads((root / "results" / "results.json").read_text("utf-8"))


def test_the_zip_has_what_gradescope_asks_for_at_its_root(archive: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        modes = {entry.filename: entry.external_attr >> 16 for entry in opened.infolist()}
        assert modes["setup.sh"] & modes["run_autograder"] & 0o111 == 0o111
        needed = {"course.toml", "requirements.txt", ".course/grading_seed", "roster.csv", f"solutions/{tiny.FILES[0]}"}
        assert needed <= modes.keys()
        assert not [name for name in modes if "__pycache__" in name or "/cache/" in name]
        assert b"torch==" in opened.read("requirements.txt")


def test_the_user_of_the_sandbox_may_read_all_that_a_worker_needs(archive: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        setup = opened.read("setup.sh").decode()
    readable = re.search(r"^chmod -R go\+rX (.*)$", setup, re.MULTILINE)
    assert readable is not None
    assert readable[1].split() == [f"autograder/{name}" for name in SHIPPED]


def test_made_again_it_is_the_same_to_the_byte(archive: Path) -> None:
    again = archive.with_name("again.zip")
    arguments = ("gradescope-autograder", "--to", str(again), "--roster", "../roster.csv")
    assert tiny.run_course(archive.parent / "course", "export", *arguments).returncode == 0
    assert again.read_bytes() == archive.read_bytes()


def test_a_submission_is_graded_with_the_time_it_was_handed_in(container: Path) -> None:
    done = run(container, container / "run_autograder")
    assert done.returncode == 0, done.stderr
    found = results(container)
    assert_valid(found)
    assert found["score"] == 50.0, "60 less 10 for one day, also when it is graded again much later"
    assert found["output"] == "1 day late: 10 % of the maximum taken off."
    assert [test["status"] for test in found["tests"]].count("failed") == 4


def test_a_grader_that_crashes_leaves_results_without_a_score(container: Path) -> None:
    run(container, container / "run_autograder", python="/bin/false")
    found = results(container)
    assert_valid(found)
    assert "score" not in found
    assert found["output"].startswith("The grader has not finished, so there is no score.")


def test_metadata_without_its_fields_is_refused(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "metadata.json").write_text('{"created_at": "yesterday", "users": []}')
    report = ("../out/reports/bob.json", "--to", str(tmp_path / "results.json"))
    options = ("--metadata", str(tmp_path / "metadata.json"))
    done = tiny.run_course(archive.parent / "course", "export", "gradescope", *report, *options)
    assert done.returncode == 2
    assert "cannot be read, expected Gradescope's submission_metadata.json" in done.stderr


def test_every_students_results_are_of_the_documented_shape(archive: Path) -> None:
    graded = examples.read(archive.parent / "course")
    for seen in (Seen(), Seen("after_published", "hidden")):
        for mark in graded.with_report:
            assert_valid(json.loads(gradescope(graded, seen)(graded, mark)))
    assert not validator().is_valid({"tests": [{"score": "1"}]})
