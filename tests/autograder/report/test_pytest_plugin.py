"""pytest on the checks of a course: as anyone expects of pytest, and deaf to whatever lies in a submission."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.support import tiny

pytestmark = pytest.mark.worker

CHECKS = "tests/exercises"
WRONG = tiny.mean_with("return x.cumsum(dim=-1)")


def run_pytest(course: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    without = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:anyio"]
    # pytest would rewrite the assertions of the engine, each time anew: it was half of the time of a run.
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *without, "--assert=plain", *arguments],
        cwd=course,
        env=tiny.environment({}),
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert "INTERNALERROR" not in done.stdout + done.stderr, done.stdout + done.stderr
    return done


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A submission with a wrong first exercise and a right second one."""
    return tiny.handed_in(tmp_path / "hand_in" / "ada", WRONG, tiny.POWER_ALONE)


def test_the_solutions_pass_and_every_check_has_its_points_in_the_xml(course: Path) -> None:
    done = run_pytest(course, CHECKS, "--submission=solutions", "--junitxml=report.xml", "-q")
    assert done.returncode == 0, done.stdout
    cases = list(ET.parse(course / "report.xml").iter("testcase"))
    properties = [
        {entry.get("name"): float(entry.get("value", "")) for entry in case.iter("property")} for case in cases
    ]
    assert len(cases) == sum(len(checks) for checks in tiny.SUITE.checks.values())
    assert sum(points["points"] for points in properties) == pytest.approx(100)
    assert all(points["points"] == points["max_points"] for points in properties)


def test_files_that_import_each_other_by_the_name_of_their_folder_pass(course: Path, tmp_path: Path) -> None:
    power = tiny.POWER.replace(f"from {tiny.FIRST} import", f"from exercises.{tiny.FIRST} import")
    done = run_pytest(course, CHECKS, f"--submission={tiny.handed_in(tmp_path / 'ada', second=power)}", "-q")
    assert done.returncode == 0, done.stdout


def test_checks_of_no_exercise_fail_with_a_sentence(course: Path) -> None:
    file = course / "course.toml"
    text = file.read_text("utf-8")
    file.write_text(text[: text.rindex("[[exercises]]")], "utf-8")
    done = run_pytest(course, f"{CHECKS}/test_{tiny.SECOND}.py", "-q")
    assert done.returncode == 1
    remedy = f"remove test_{tiny.SECOND}.py, or rename it after an exercise"
    assert f"course.toml has no exercise {tiny.SECOND}; {remedy}" in done.stdout
    assert "Traceback" not in done.stdout
    assert "pytest_plugin.py" not in done.stdout


def test_the_stubs_fail_and_nothing_is_skipped(course: Path) -> None:
    done = run_pytest(course, CHECKS)
    assert done.returncode == 1
    assert "9 failed" in done.stdout
    assert "skipped" not in done.stdout
    assert "NOT STARTED: each number is the mean of all up to it" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_failure_says_its_finding_its_place_and_a_hint_and_no_code_of_the_kit(course: Path, wrong: Path) -> None:
    done = run_pytest(course, CHECKS, f"--submission={wrong}", "-x")
    assert done.returncode == 1
    assert "1 failed" in done.stdout
    for words in (
        "FAIL: each number is the mean",
        "The running sum is not divided.",
        f"{tiny.FILES[0]}:",
        "Hint:",
    ):
        assert words in done.stdout
    assert "autograder" not in done.stdout.split("FAILURES")[1].split("short test summary")[0]


def test_what_the_code_printed_stands_below_the_failure_of_its_check(course: Path, tmp_path: Path) -> None:
    program = tiny.mean_with("print('x', x.dtype); return x.cumsum(dim=-1)")
    loud = tiny.handed_in(tmp_path / "ada", f"print('imported')\n{program}", tiny.POWER_ALONE)
    done = run_pytest(course, f"{CHECKS}/test_{tiny.FIRST}.py", f"--submission={loud}", "-k", "values")
    printed = done.stdout.split("Captured stdout call")[1]
    assert "Your code printed while it was imported:\nimported\n" in printed
    assert "Your code printed in check values (same text in 2 trials):\nx torch.float" in printed


def test_checks_are_chosen_by_name_and_by_file(course: Path) -> None:
    chosen = run_pytest(course, CHECKS, "--submission=solutions", "-k", "values or power", "-q")
    assert chosen.returncode == 0
    assert "2 passed" in chosen.stdout or "6 passed" in chosen.stdout
    one = run_pytest(course, f"{CHECKS}/test_{tiny.FIRST}.py::test_empty", "--submission=solutions", "-q")
    assert (one.returncode, "1 passed" in one.stdout) == (0, True)
    none = run_pytest(course, CHECKS, "--submission=solutions", "-k", "no_such_check")
    assert none.returncode == 5, "nothing chosen is no pass"


def test_with_two_processes_the_results_are_the_same(course: Path, wrong: Path) -> None:
    pytest.importorskip("xdist")
    done = run_pytest(course, CHECKS, f"--submission={wrong}", "-n", "2", "-q")
    assert done.returncode == 1
    assert "4 failed, 5 passed" in done.stdout


def test_a_check_that_cannot_run_is_a_failure(course: Path) -> None:
    tiny.replaced(course / "solutions" / tiny.FILES[0], "return x.cumsum(dim=-1) / count", "return 1 / 0")
    (course / "solutions" / "misconceptions" / f"{tiny.FIRST}.toml").unlink()
    good = tiny.handed_in(course / "ada")
    done = run_pytest(course, f"{CHECKS}/test_{tiny.FIRST}.py", f"--submission={good}", "-q")
    assert done.returncode == 1
    assert "4 failed" in done.stdout
    assert "COURSE PROBLEM" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--submission=nowhere",), "nowhere cannot be read"),
        (("--submission=course.toml",), "neither a folder nor a zip"),
        (("--device=quantum",), "quantum"),
    ],
)
def test_what_stands_in_the_way_is_a_sentence_and_a_failure(
    arguments: tuple[str, ...], sentence: str, course: Path
) -> None:
    done = run_pytest(course, f"{CHECKS}/test_{tiny.FIRST}.py", *arguments, "-q", "-x")
    assert done.returncode in (1, 4)
    assert sentence in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_course_that_cannot_be_read_is_a_sentence_and_a_failure(course: Path) -> None:
    tiny.replaced(course / "course.toml", "points = 40", "points = 0")
    done = run_pytest(course, f"{CHECKS}/test_{tiny.FIRST}.py", "-q")
    assert done.returncode == 1
    assert "points is 0, expected a number above 0" in done.stdout


@pytest.fixture
def hostile(wrong: Path) -> Path:
    """A wrong submission with everything in it that pytest could pick up."""
    forged = (
        "import pytest\n"
        "@pytest.hookimpl(hookwrapper=True)\n"
        "def pytest_runtest_makereport(item, call):\n"
        "    outcome = yield\n    outcome.get_result().outcome = 'passed'\n"
        "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
    )
    (wrong / "conftest.py").write_text(forged)
    (wrong / "deeper").mkdir()
    (wrong / "deeper" / "conftest.py").write_text(forged)
    (wrong / "pytest.ini").write_text("[pytest]\naddopts = --version\n")
    (wrong / "test_nothing.py").write_text("def test_nothing(): pass\n")
    for library in ("torch", "numpy", "autograder", "sitecustomize"):
        (wrong / f"{library}.py").write_text("import os\nos._exit(0)\n")
    return wrong


ORDERS = [
    ("pytest.ini", ("CHECKS", "--submission=DIR")),
    ("pytest.ini", ("--submission=DIR", "CHECKS")),
    ("pytest.ini", ("CHECKS", "--submission", "DIR")),
    ("pytest.ini", ("--submission", "DIR", "CHECKS")),
    ("pytest.ini", ("--rootdir=DIR", "--submission=DIR", "CHECKS")),
    ("conftest.py", ("--submission=DIR", "CHECKS")),
    ("conftest.py", ("--submission", "DIR", "CHECKS")),
    ("conftest.py", ("--rootdir=DIR", "CHECKS", "--submission=DIR")),
    ("conftest.py", ("CHECKS", "DIR", "--submission=DIR")),
    ("conftest.py", ("DIR", "--submission=DIR")),
    ("conftest.py", ("DIR/test_nothing.py::test_nothing", "--submission=DIR")),
    ("conftest.py", ("DIR/deeper", "CHECKS", "--submission=DIR")),
]


@pytest.mark.parametrize(("attack", "order"), ORDERS)
def test_nothing_in_a_submission_turns_a_failure_into_a_pass(
    attack: str, order: tuple[str, ...], course: Path, hostile: Path
) -> None:
    for name in {"pytest.ini", "conftest.py"} - {attack}:
        (hostile / name).unlink()
    arguments = [argument.replace("DIR", str(hostile)).replace("CHECKS", str(course / CHECKS)) for argument in order]
    done = run_pytest(course, *arguments, "-q", "-x", "-k", "values or nothing")
    assert done.returncode in (1, 4), done.stdout + done.stderr
    if done.returncode == 4:
        assert "submission" in done.stderr
    else:
        assert "The running sum is not divided." in done.stdout


def test_the_configuration_of_a_submission_is_refused_even_when_named(course: Path, hostile: Path) -> None:
    done = run_pytest(course, "-c", str(hostile / "pytest.ini"), CHECKS, f"--submission={hostile}")
    assert done.returncode == 4
    assert "pytest took its configuration from the submission" in done.stderr


def test_from_inside_a_submission_nothing_of_it_is_taken_either(course: Path, hostile: Path) -> None:
    for library in ("torch", "numpy", "autograder", "sitecustomize"):
        (hostile / f"{library}.py").unlink()  # `python -m pytest` imports them before any plugin is asked
    for arguments in (["--submission=."], ["--submission=.", str(course / CHECKS)]):
        done = run_pytest(hostile, *arguments, "-q", "-x", "-k", "values or nothing")
        assert done.returncode in (1, 4), done.stdout + done.stderr
