"""GitHub Classroom's workflow file: read as YAML, and its steps run in a repository as GitHub's machines run them."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograder.answer_key.keys import Keys
from autograder.authoring.release import kit_of, write_kit
from autograder.instructor.gradebook.classroom import workflow
from tests.support import export_examples as examples
from tests.support import tiny

WRONG = tiny.mean_with("return x.cumsum(dim=-1)")
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
"""pip reads the third as the value of the option's opposite: build with what is there."""


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The one job of the workflow."""
    read = yaml.safe_load(workflow(examples.read(examples.graded_class(tmp_path_factory.mktemp("class")))))
    assert read[True] == ["push", "workflow_dispatch", "repository_dispatch"], "YAML takes the word on for true"
    assert read["permissions"] == {"checks": "write", "actions": "read", "contents": "read"}
    [(name, job)] = read["jobs"].items()
    assert name == "run-autograding-tests"
    return job


@pytest.fixture(scope="module")
def repository(job: dict[str, Any], key_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A student's repository: the kit, with a mistake in it, and an environment in which torch is there already."""
    root = tmp_path_factory.mktemp("github") / "repository"
    with Keys(tiny.SUITE, seed=tiny.COURSE.seed, cache=key_cache) as keys:
        write_kit(kit_of(tiny.COURSE, tiny.SUITE, keys), root)
    tiny.handed_in(root / "exercises", WRONG)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root.parent / "venv"], check=True)
    [site] = (root.parent / "venv").glob("lib/python*/site-packages")
    (site / "others.pth").write_text("\n".join(each for each in sys.path if each.endswith("site-packages")))
    for step in job["steps"]:
        if "run" in step:
            done = ran(step, root)
            assert done.returncode == 0, f"{step['name']}\n{done.stdout}\n{done.stderr}"
    return root


def ran(step: dict[str, Any], root: Path) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub does: its text is a script for `bash -e`, in the root of the repository."""
    path = os.pathsep.join([str(root.parent / "venv" / "bin"), os.environ.get("PATH", "")])
    (root.parent / "step.sh").write_text(step["run"], "utf-8")
    return subprocess.run(
        ["bash", "-e", root.parent / "step.sh"],
        cwd=root,
        env=tiny.environment({"PATH": path, "GITHUB_OUTPUT": str(root.parent / "output"), **OFFLINE}),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def outputs(root: Path) -> dict[str, Any]:
    """Return what the steps handed on, decoded as the reporter does."""
    lines = (root.parent / "output").read_text("utf-8").splitlines()
    return {name: json.loads(base64.b64decode(data)) for name, data in (line.split("=", 1) for line in lines)}


def test_every_runner_that_is_reported_gets_its_results(job: dict[str, Any], repository: Path) -> None:
    *_, reporter = job["steps"]
    assert reporter["uses"] == "classroom-resources/autograding-grading-reporter@v1"
    runners = reporter["with"]["runners"].split(",")
    assert list(outputs(repository)) == runners
    assert reporter["env"] == {f"{name.upper()}_RESULTS": f"${{{{ steps.grade.outputs.{name} }}}}" for name in runners}
    assert [each["id"] for each in job["steps"] if "id" in each] == ["grade"]


def test_what_is_reported_is_what_the_student_has_earned(repository: Path) -> None:
    report = json.loads((repository / "report.json").read_text("utf-8"))
    found = outputs(repository).values()
    assert 0 < report["score"] < report["max_score"]
    assert sum(test["score"] for each in found for test in each["tests"]) == pytest.approx(report["score"] / 100)
    assert sum(each["max_score"] for each in found) == pytest.approx(report["max_score"] / 100)
    assert "The running sum is not divided" in json.dumps(list(found))


def test_a_step_fails_where_the_grader_does(job: dict[str, Any], repository: Path) -> None:
    [step] = [each for each in job["steps"] if each.get("id") == "grade"]
    key = repository / "key" / tiny.FIRST / "key.xz"
    kept = key.read_bytes()
    key.write_bytes(b"x")
    try:
        assert ran(step, repository).returncode != 0
    finally:
        key.write_bytes(kept)
