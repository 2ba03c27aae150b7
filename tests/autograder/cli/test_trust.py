"""The code of a course runs only where its user has said so, whatever command would run it."""

import json
import os
import pty
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from autograder.course import storage as trust
from tests.support import tiny

pytestmark = pytest.mark.worker

RUN = "ran as the user"
"""What a check prints that runs in the program that judges."""


@pytest.fixture
def clone(course: Path) -> Path:
    """A student's clone of the course, whose checks note when they are run."""
    for file in (course / "tests" / "exercises").glob("test_*.py"):
        file.write_text(f"open({str(course.parent / 'ran')!r}, 'w').write({RUN!r})\n{file.read_text('utf-8')}", "utf-8")
    return course


def has_run(clone: Path) -> bool:
    return (clone.parent / "ran").exists()


def wary(clone: Path, **more: str) -> dict[str, str]:
    """Return the environment of somebody who has trusted nothing yet."""
    return {"COURSE_TRUST": "", "XDG_CONFIG_HOME": str(clone.parent / "config"), **more}


def listed(clone: Path) -> Path:
    return clone.parent / "config" / "course" / "trusted.json"


@pytest.mark.parametrize(
    "command",
    [
        "check",
        "check --submission solutions",
        "watch",
        "validate",
        "build --check",
        "import nbgrader no.ipynb",
        "release ../kit",
        "grade ../hand_in --out ../out --isolation process",
        "export nbgrader-course --to ../nbgrader",
    ],
)
def test_a_folder_that_is_new_to_the_user_is_refused_before_its_code_runs(command: str, clone: Path) -> None:
    tiny.handed_in(clone.parent / "hand_in" / "ada")
    done = tiny.run_course(clone, *command.split(), **wary(clone))
    assert done.returncode == 3, done.stdout + done.stderr
    assert f"course: you have not used the course in {clone} before" in done.stderr
    assert done.stderr.endswith(f"If you trust that folder, run: course trust {clone}\n")
    assert not has_run(clone)
    assert not listed(clone).exists()


def test_what_runs_no_code_of_the_folder_asks_for_nothing(clone: Path) -> None:
    for command in ("list", "status", "report", "--help", "doctor"):
        assert tiny.run_course(clone, *command.split(), **wary(clone)).returncode == 0, command
    assert not has_run(clone)


def test_a_trusted_folder_raises_no_question_again(clone: Path) -> None:
    done = tiny.run_course(clone.parent, "trust", str(clone / "exercises"), **wary(clone))
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Trusted: {clone}" in done.stdout
    assert list(json.loads(listed(clone).read_text())["folders"]) == [str(clone)]
    assert listed(clone).stat().st_mode & 0o777 == 0o600
    assert tiny.run_course(clone, "check", **wary(clone)).returncode == 1
    assert has_run(clone)
    assert "No longer trusted" in tiny.run_course(clone, "trust", "--undo", **wary(clone)).stdout
    assert tiny.run_course(clone, "check", **wary(clone)).returncode == 3


def test_folders_that_are_trusted_at_once_are_all_on_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("COURSE_TRUST", "")
    folders = [tmp_path / f"course{number}" for number in range(12)]
    with ThreadPoolExecutor(len(folders)) as pool:
        [file, *_] = pool.map(trust.trust_folder, folders)
    assert set(json.loads(file.read_text())["folders"]) == {str(folder) for folder in folders}


@pytest.mark.parametrize(("answer", "status"), [("yes\n", 1), ("no\n", 3), ("\n", 3), ("\x04", 3)])
def test_a_terminal_gets_the_question_once(answer: str, status: int, clone: Path) -> None:
    assert on_terminal(clone, answer) == (status, True)
    assert has_run(clone) == (status == 1)
    if status == 1:
        assert on_terminal(clone, "") == (1, False)


def on_terminal(clone: Path, answer: str) -> tuple[int, bool]:
    """Check on a terminal; return the exit status, and whether a question was asked."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "autograder", "check", "1", "--plain"],
        cwd=clone,
        env=tiny.environment(wary(clone)),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    said = b""
    answered = False
    try:
        while part := os.read(ours, 4096):
            said += part
            if b"Type yes:" in said and not answered:
                os.write(ours, answer.encode())
                answered = True
    except OSError:
        pass  # the terminal is closed when the program has ended
    process.communicate(timeout=60)
    os.close(ours)
    return process.returncode, answered


def test_the_environment_can_trust_a_folder_or_all(clone: Path) -> None:
    other = os.pathsep.join(["/nowhere", str(clone)])
    for named, status in ((str(clone.parent), 3), (other, 1), ("1", 1)):
        assert tiny.run_course(clone, "check", **wary(clone, COURSE_TRUST=named)).returncode == status, named


def test_a_folder_that_changed_its_owner_or_a_list_that_others_can_write_counts_for_nothing(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in wary(clone).items():
        monkeypatch.setenv(name, value)
    trust.trust_folder(clone)
    monkeypatch.setenv("COURSE_TRUST", "")
    assert trust.is_trusted(clone)
    listed(clone).chmod(0o666)
    assert not trust.is_trusted(clone)
    listed(clone).chmod(0o600)
    listed(clone).write_text(listed(clone).read_text().replace(f'"{clone.stat().st_uid}"', '"4711"'))
    assert not trust.is_trusted(clone)
    listed(clone).write_text("[" * 100_000)
    assert not trust.is_trusted(clone)


def test_the_folder_of_the_engine_needs_no_trust(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A kit that was installed from its folder, or a checkout, runs its code already."""
    monkeypatch.setenv("COURSE_TRUST", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert trust.is_trusted(tiny.REPOSITORY)
    assert not trust.is_trusted(tiny.ROOT)
    assert not trust.is_trusted(tiny.REPOSITORY / "examples")


def test_pytest_refuses_to_import_the_checks(clone: Path) -> None:
    for argument in ("tests/exercises", f"tests/exercises/test_{tiny.FIRST}.py::test_x", "."):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "pytest", argument, "-p", "no:cacheprovider"],
            cwd=clone,
            env=tiny.environment(wary(clone)),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, has_run(clone)) == (4, False), done.stdout
        assert f"course trust {clone}" in done.stderr


def test_a_notebook_shows_the_command_to_trust_a_course(clone: Path) -> None:
    request = {"root": str(clone), "exercise": tiny.FIRST, "live": None, "folder": None, "kept": False, "device": "cpu"}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "autograder.notebook.judging"],
        cwd=clone,
        env=tiny.environment(wary(clone)),
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"course trust {clone}" in json.loads(done.stdout)["problem"]
    assert not has_run(clone)


def test_a_course_among_the_submissions_is_never_graded_by(course: Path, tmp_path: Path) -> None:
    hand_in = tmp_path / "hand_in"
    inner = tiny.copied(hand_in / "eve")
    tiny.handed_in(hand_in / "ada")
    for cwd, named in ((inner, "../.."), (inner / "exercises", str(hand_in)), (inner, ".")):
        done = tiny.run_course(cwd, "grade", named, "--out", str(tmp_path / "out"), *tiny.TRUSTED)
        assert (done.returncode, "where the submissions are; go to the folder of your course" in done.stderr) == (
            2,
            True,
        ), done.stderr
    done = tiny.run_course(
        hand_in, "grade", ".", "--course", str(course), "--out", str(tmp_path / "out"), "--seed", "1", *tiny.TRUSTED
    )
    assert f"course: grading by the course in {course}" in done.stderr
    assert (tmp_path / "out" / "reports" / "ada.json").is_file()


def test_checking_a_submission_warns_that_it_is_not_confined(course: Path, tmp_path: Path) -> None:
    folder = tiny.handed_in(tmp_path / "ada")
    done = tiny.run_course(course, "check", "--submission", str(folder), "--plain")
    warning = f"course: this runs the code in {folder} with your rights, without a sandbox; course grade uses one\n"
    assert (done.returncode, done.stderr) == (0, warning)
    assert tiny.run_course(course, "check", "--submission", "solutions", "--plain").stderr == ""
