"""The supported versions: every text that names them names the same, and an end that cannot be run is a failure."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from autograder import __version__
from autograder.learner import command_doctor as doctor
from tests.support import tiny

COMPAT = tiny.REPOSITORY / "tests" / "compat"
README = (tiny.REPOSITORY / "README.md").read_text("utf-8")
PROJECT = tomllib.loads((tiny.REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def compat() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compat", COMPAT / "__main__.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def pinned(end: str) -> dict[str, str]:
    """Return the versions that an end pins, by package."""
    lines = (COMPAT / f"{end}.txt").read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def bounds(package: str) -> tuple[str, str | None]:
    """Return the lowest version of a package that pyproject.toml admits, and the first that it does not."""
    admitted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["torch"]]
    [found] = [requirement for requirement in admitted if re.match(rf"{package}\b", requirement)]
    lower, upper = re.search(r">=([\d.]+)", found), re.search(r"<([\d.]+)", found)
    assert lower is not None
    return lower[1], upper and upper[1]


def minor(version: str) -> str:
    return ".".join(f"{version}.0".split(".")[:2])


def after(version: str) -> str:
    """Return the minor version that follows."""
    major, number = minor(version).split(".")
    return f"{major}.{int(number) + 1}"


def test_the_lowest_versions_that_are_admitted_are_the_oldest_that_are_run() -> None:
    oldest = {name.lower(): version for name, version in pinned("oldest").items()}
    needed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["torch"]]
    assert sorted(doctor.PACKAGES) == sorted(re.split("[<>=]", requirement)[0] for requirement in needed)
    for package in doctor.PACKAGES:
        assert minor(oldest[package]) == minor(bounds(package)[0])
        assert doctor.PACKAGES[package] == tuple(map(int, minor(oldest[package]).split(".")))


def test_the_highest_versions_that_are_admitted_are_the_newest_that_are_run() -> None:
    newest = pinned("newest")
    for package in ("torch", "numpy"):
        assert bounds(package)[1] == after(newest[package])


def test_a_newer_python_is_admitted_and_the_doctor_knows_which_are_run(compat: ModuleType) -> None:
    oldest, newest = (end.python for end in compat.ENDS)
    assert PROJECT["requires-python"] == f">={oldest}", "pip would refuse what may work"
    assert [".".join(map(str, version)) for version in (doctor.PYTHON, doctor.NEWEST)] == [oldest, newest]


def test_the_doctor_says_that_a_newer_python_was_not_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.sys, "version_info", (3, 99, 0))
    fact = next(fact for fact in doctor.examine() if fact.name == "python")
    assert fact.found.endswith("the newest one that the kit was tested with")
    assert not fact.wrong, "it may work"


def test_the_readme_names_the_range_that_is_run(compat: ModuleType) -> None:
    ends = [{"Python": end.python, **pinned(end.name)} for end in compat.ENDS]
    for name, key in (("Python", "Python"), ("torch", "torch"), ("NumPy", "numpy")):
        oldest, newest = (minor(end[key]) for end in ends)
        assert f"{name} {oldest} to {newest}" in README


def test_an_interpreter_that_is_not_there_is_a_failure_and_a_sentence(
    compat: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compat, "marks", lambda *_: {})
    for end in compat.ENDS:
        monkeypatch.setenv(end.variable, "/nowhere/python")
    assert compat.main() == 1
    said = capsys.readouterr()
    assert [line.split() for line in said.out.splitlines()] == [
        list(compat.COLUMNS),
        ["oldest", "-", "-", "-", "FAILED", "-", "-"],
        ["newest", "-", "-", "-", "FAILED", "-", "-"],
    ]
    assert "oldest: /nowhere/python was not found; install Python 3.11, or name it: PYTHON_OLD=" in said.err


@pytest.mark.worker
def test_an_interpreter_of_another_version_is_refused(compat: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    end = next(end for end in compat.ENDS if end.python != here)
    monkeypatch.setenv(end.variable, sys.executable)
    with pytest.raises(compat.Failed, match=rf"is not Python {end.python} \(it says: {here}\)"):
        compat.interpreter(end)


def test_a_course_that_does_not_hold_fails_its_end(
    compat: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(*_: object) -> None:
        raise compat.Failed("validate: 2 problems")

    monkeypatch.setattr(compat, "interpreter", lambda _: "python")
    monkeypatch.setattr(compat, "environment", lambda *_: tmp_path)
    monkeypatch.setattr(compat, "versions", lambda _: {"Python": "3.11.7", "torch": "2.4.0", "NumPy": "1.26.0"})
    monkeypatch.setattr(compat, "call", fails)
    row, problem = compat.proved(compat.ENDS[0], {})
    assert row == ("oldest", "3.11.7", "2.4.0", "1.26.0", "FAILED", "-", "-")
    assert problem == "validate: 2 problems"


def test_marks_that_differ_fail_their_end(compat: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = {"ada": {"score": "9.00", "ex01": "4.00"}}
    monkeypatch.setattr(compat, "interpreter", lambda _: "python")
    monkeypatch.setattr(compat, "environment", lambda *_: tmp_path)
    monkeypatch.setattr(compat, "versions", lambda _: {"Python": "3.11.7", "torch": "2.4.0", "NumPy": "1.26.0"})
    monkeypatch.setattr(compat, "call", lambda *_: None)
    monkeypatch.setattr(
        compat, "marks", lambda *_: {"ada": {"score": "8.00", "ex01": "4.00"}, "eva": {"score": "1.00"}}
    )
    row, problem = compat.proved(compat.ENDS[0], own)
    assert row == ("oldest", "3.11.7", "2.4.0", "1.26.0", "holds", "FAILED", "-")
    assert problem == "2 marks differ: ada has 8.00 in score, here 9.00; eva has 1.00 in score, here None"
    monkeypatch.setattr(compat, "marks", lambda *_: own)
    assert compat.proved(compat.ENDS[0], own)[0][4:6] == ("holds", "same marks")


def test_the_hosted_workflow_runs_targets_that_exist_on_every_supported_python() -> None:
    workflow = yaml.safe_load((tiny.REPOSITORY / ".github" / "workflows" / "tests.yml").read_text("utf-8"))
    makefile = (tiny.REPOSITORY / "Makefile").read_text("utf-8")
    steps = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    targets = [run.removeprefix("make ") for run in steps if run.startswith("make ")]
    assert targets == ["test", "${{ matrix.target }}"]
    targets = ["test", *workflow["jobs"]["proof"]["strategy"]["matrix"]["target"]]
    assert targets == ["test", "proof-short", "slow"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    versions = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert PROJECT["requires-python"] == f">={versions[0]}"
    assert versions[-1] == ".".join(map(str, doctor.NEWEST))


def test_the_newest_release_of_the_changelog_is_this_version() -> None:
    sections = re.findall(r"^## (.+)$", (tiny.REPOSITORY / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert sections[0] == "Unreleased"
    assert re.fullmatch(rf"{re.escape(__version__)} — \d{{4}}-\d\d-\d\d", sections[1])
