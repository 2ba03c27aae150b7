"""What runs in a student's repository and on public platforms: the real scripts, as these platforms run them."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograder.authoring.release import write_kit
from autograder.exports.classroom50 import write_classroom50_autograder
from autograder.exports.formats import MEGABYTE, public_kit, write_files
from autograder.exports.github_and_gitlab import github_actions, gitlab_ci
from autograder.exports.prairielearn import write_grader
from autograder.gradebook import ExportError
from tests.autograder.exports.test_export_platforms import RUNNER, refused50, refused_pl
from tests.support import tiny
from tests.support.kits import kit_of

pytestmark = pytest.mark.worker

WRONG = tiny.mean_with("return x.cumsum(dim=-1)")
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
"""pip reads the third as the value of the option's opposite: build with what is there."""

GH = """\
#!/bin/sh
echo "$@" >> "$CALLS"
case "$2" in list) echo 7 ;; esac
"""
"""Stands in for GitHub's program: there is a pull request with the number 7."""

CURL = """\
#!/bin/sh
echo "$@" >> "$CALLS"
"""

SETPRIV = """\
#!/bin/sh
while [ "${1#--}" != "$1" ]; do shift; done
exec "$@"
"""
"""Stands in for util-linux's program: these tests may run as root, in folders that only root can read."""


@pytest.fixture(scope="module")
def home(key_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kit, a student's repository made of it with a mistake, and an environment in which torch is there already."""
    home = tmp_path_factory.mktemp("platform")
    write_kit(kit_of(tiny.SUITE, cache=key_cache), home / "kit")
    shutil.copytree(home / "kit", home / "repository")
    tiny.handed_in(home / "repository" / "exercises", WRONG, tiny.POWER_ALONE)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "venv"], check=True)
    [site] = (home / "venv").glob("lib/python*/site-packages")
    (site / "others.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    (home / "bin").mkdir()
    for name, text in (("gh", GH), ("curl", CURL), ("setpriv", SETPRIV)):
        (home / "bin" / name).write_text(text)
        (home / "bin" / name).chmod(0o755)
    return home


def ran(
    home: Path, command: list[str | Path], cwd: Path, extra: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(home / "bin"), str(home / "venv" / "bin"), os.environ.get("PATH", "")])
    own = {"PATH": path, "CALLS": str(home / "calls"), **OFFLINE, **(extra or {})}
    environment = {name: value for name, value in tiny.environment(own).items() if name != "PYTHONPATH"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False)


def script(home: Path, text: str, extra: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub and GitLab do: its text is a script for bash, in the root of the repository."""
    (home / "step.sh").write_text(text, "utf-8")
    return ran(home, ["bash", "-eo", "pipefail", home / "step.sh"], home / "repository", extra)


def steps(workflow: dict[str, Any]) -> dict[str, dict[str, Any]]:
    (job,) = workflow["jobs"].values()
    return {step["name"]: step for step in job["steps"] if "name" in step}


def test_the_workflow_of_github_checks_marks_lines_and_comments(home: Path) -> None:
    workflow = yaml.safe_load(github_actions(tiny.COURSE))
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write"}
    runner = {name: str(home / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    runner["GITHUB_REF_NAME"] = "main"
    found = steps(workflow)
    assert script(home, found["Install the course"]["run"], runner).returncode == 0
    checked = script(home, found["Check every exercise"]["run"], runner)
    assert checked.returncode == 0, checked.stderr
    assert f"\n::error file=exercises/{tiny.FIRST}.py,line=" in checked.stdout
    assert (home / "GITHUB_OUTPUT").read_text() == "status=1\n"
    summary = (home / "GITHUB_STEP_SUMMARY").read_text("utf-8")
    assert "of 100 points" in summary
    assert "| 02 " in summary
    assert script(home, found["Comment on the pull request"]["run"], runner).returncode == 0
    listed, commented = (home / "calls").read_text().splitlines()
    assert listed.startswith("pr list --head main ")
    assert commented == "pr comment 7 --edit-last --create-if-none --body-file summary.md"
    assert found["Result"]["run"] == "exit ${{ steps.check.outputs.status }}"
    assert found["Check every exercise"]["id"] == "check"


def test_the_pipeline_of_gitlab_checks_marks_lines_and_comments(home: Path) -> None:
    job = yaml.safe_load(gitlab_ci(tiny.COURSE))["check"]
    merge = {"CI_MERGE_REQUEST_IID": "3", "CI_PROJECT_ID": "9", "CI_API_V4_URL": "https://gitlab.example/api/v4"}
    (home / "calls").unlink(missing_ok=True)
    done = script(home, "\n".join(job["script"]), merge)
    assert done.returncode == 1, "not every check passes"
    assert "of 100 points" in done.stdout
    assert not (home / "calls").exists(), "there is no token"
    assert script(home, job["script"][1], {**merge, "COURSE_TOKEN": "secret"}).returncode == 1
    assert (
        (home / "calls")
        .read_text()
        .endswith("--data-urlencode body@summary.md https://gitlab.example/api/v4/projects/9/merge_requests/3/notes\n")
    )
    reports = {name: home / "repository" / file for name, file in job["artifacts"]["reports"].items()}
    (entry,) = json.loads(reports["codequality"].read_text("utf-8"))
    assert entry["location"]["path"] == f"exercises/{tiny.FIRST}.py"
    assert "<failure" in reports["junit"].read_text("utf-8")


def test_a_job_fails_where_the_checks_cannot_run(home: Path) -> None:
    step = steps(yaml.safe_load(github_actions(tiny.COURSE)))["Check every exercise"]["run"]
    key = home / "repository" / "key" / tiny.FIRST / "key.xz"
    kept = key.read_bytes()
    key.write_bytes(b"x")
    try:
        assert script(home, step, {"GITHUB_OUTPUT": os.devnull, "GITHUB_STEP_SUMMARY": os.devnull}).returncode > 1
    finally:
        key.write_bytes(kept)


def test_classroom50_grades_a_repository_with_the_kit_of_the_class(home: Path, tmp_path: Path) -> None:
    """Run autograder.py as runner.py does: unpacked from the bundle, in the student's checkout."""
    count = write_classroom50_autograder(tiny.COURSE, home / "kit", tmp_path / "made")
    assert count == sum(file.is_file() for file in (tmp_path / "made").rglob("*"))
    assert json.loads((tmp_path / "made" / "runtime.json").read_text())["python"] == "3.12"
    with tarfile.open(tmp_path / "bundle.tar.gz", "w:gz") as bundle:
        bundle.add(tmp_path / "made", ".")
    with tarfile.open(tmp_path / "bundle.tar.gz") as bundle:
        bundle.extractall(tmp_path / "bundle")
    checkout = tmp_path / "checkout"
    shutil.copytree(home / "repository", checkout)
    for file in checkout.rglob("test_ex*.py"):
        file.write_text("def test_values(): pass\n")  # a student's own checks do not count
    shutil.rmtree(checkout / "key")
    done = ran(home, ["python", tmp_path / "bundle" / "autograder.py"], checkout, RUNNER)
    assert done.returncode == 0, done.stdout + done.stderr
    data = json.loads((checkout / "result.json").read_text("utf-8"))
    assert refused50(data) == []
    assert [test["passed"] for test in data["tests"]] == [False, True]
    assert 6000 <= data["score"] < data["max-score"] == 10_000
    body = (checkout / "release-body.md").read_text("utf-8")
    assert f"{data['score'] / 100:g} of 100 points" in body
    assert "The running sum is not divided" in body or "### 01" in body


@pytest.mark.slow
def test_classroom50_gets_no_result_if_the_checks_cannot_run(home: Path, tmp_path: Path) -> None:
    write_classroom50_autograder(tiny.COURSE, home / "kit", tmp_path / "bundle")
    (tmp_path / "bundle" / "kit" / "key" / tiny.FIRST / "key.xz").write_bytes(b"x")
    checkout = tiny.handed_in(tmp_path / "checkout")
    done = ran(home, ["python", tmp_path / "bundle" / "autograder.py"], checkout, RUNNER)
    assert done.returncode not in (0, 1)
    assert not (checkout / "result.json").exists()


@pytest.fixture(scope="module")
def grader(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    grader = tmp_path_factory.mktemp("prairielearn") / "grader"
    write_grader(tiny.COURSE, home / "kit", grader)
    return grader


def graded_by(
    home: Path, grader: Path, student: Path, *arguments: str
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run the entrypoint on a folder /grade, as PrairieLearn's container does."""
    extra = {"GRADE_ROOT": str(student.parent), "COURSE_KIT": str(grader / "kit")}
    done = ran(home, [grader / "grade.sh", *arguments], student.parent, extra)
    return done, student.parent / "results" / "results.json"


def test_prairielearn_grades_what_a_student_uploads(home: Path, grader: Path, tmp_path: Path) -> None:
    done, file = graded_by(home, grader, tiny.handed_in(tmp_path / "student", WRONG, tiny.POWER_ALONE))
    assert done.returncode == 0, done.stdout + done.stderr
    text = file.read_text("utf-8")
    assert refused_pl(text) == []
    assert 0.6 <= json.loads(text)["score"] < 1


@pytest.mark.slow
def test_prairielearn_may_ask_for_one_exercise(home: Path, grader: Path, tmp_path: Path) -> None:
    done, file = graded_by(home, grader, tiny.handed_in(tmp_path / "student", WRONG, tiny.POWER_ALONE), "02")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(file.read_text("utf-8"))["score"] == 1


def test_prairielearn_takes_no_attempt_for_other_files(home: Path, grader: Path, tmp_path: Path) -> None:
    (tmp_path / "student").mkdir()
    (tmp_path / "student" / "notes.txt").write_text("nothing")
    done, file = graded_by(home, grader, tmp_path / "student")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(file.read_text("utf-8"))["gradable"] is False


def test_the_image_copies_what_is_there(grader: Path) -> None:
    lines = (grader / "Dockerfile").read_text().splitlines()
    copied = [line.split()[1] for line in lines if line.startswith("COPY")]
    assert sorted(copied) == sorted(file.name for file in grader.iterdir() if file.name != "Dockerfile")
    assert lines[-1] == 'ENTRYPOINT ["/course/grade.sh"]'


def test_the_question_in_the_docs_uses_the_image() -> None:
    page = (tiny.REPOSITORY / "docs" / "exports.md").read_text("utf-8")
    (options,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    info = json.loads(options)
    assert info["gradingMethod"] == "External"
    assert info["externalGradingOptions"]["entrypoint"].startswith("/course/grade.sh")
    assert info["externalGradingOptions"]["timeout"] <= 600


def test_only_an_unchanged_kit_of_the_course_is_published(home: Path, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="is not a kit, expected a folder that course release wrote"):
        public_kit(tiny.COURSE, tiny.ROOT)
    kit = shutil.copytree(home / "kit", tmp_path / "kit")
    (kit / "roster.csv").write_text("student\nada\n")
    assert "kit/roster.csv" not in public_kit(tiny.COURSE, kit)
    (kit / "exercises" / f"{tiny.FIRST}.py").write_text(tiny.MEAN)
    with pytest.raises(ExportError, match=r"ex01_running_mean.py is missing or changed; run course release"):
        public_kit(tiny.COURSE, kit)


def test_files_that_a_platform_does_not_take_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="MB when packed, and the platform takes 1 MB; release a part"):
        write_files(tmp_path / "to", {"large": os.urandom(2 * MEGABYTE)}, MEGABYTE)
    assert not (tmp_path / "to").exists()
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ExportError, match="is a file, expected a folder"):
        write_files(tmp_path / "file", {"a": b""})


def test_the_commands_need_a_kit_and_a_kit_writes_workflows(home: Path, tmp_path: Path) -> None:
    course = tiny.copied(tmp_path / "course")
    done = tiny.run_course(course, "export", "classroom50-autograder", "--to", "x")
    assert done.returncode == 2
    assert "needs --kit DIR, the kit that students have; make one with course release DIR" in done.stderr
    done = tiny.run_course(course, "export", "prairielearn-grader", "--kit", str(home / "kit"), "--to", "x")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(" files in x; nothing of the solutions is in them\n")
    done = ran(home, ["python", "-m", "autograder", "export", "gitlab-ci", "--to", "ci.yml"], home / "kit")
    assert (done.returncode, done.stdout) == (0, "Written: ci.yml\n")
    (home / "kit" / "ci.yml").unlink()
