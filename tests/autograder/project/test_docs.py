"""Every command in README and docs is run, in a copy of the project."""

import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from autograder.results.report import FindingKind, Status
from tests.support import tiny
from tests.support.pages import commands_of

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md"]
STORIES = [ROOT / "docs" / "classroom.md", ROOT / "docs" / "first-exercise.md"]
"""The pages whose commands a test runs in their order: test_classroom.py and test_first_exercise.py."""

ACTIVATE = "source .venv/bin/activate"
LEARN = ['python -m pip install --constraint constraints.txt --editable ".[torch,review]"']
"""What `make learn` runs in a new environment."""

INSTALL = {
    'pip install "FILE[torch]"',
    'pipx install "FILE[torch]"',
    'uvx --from "FILE[torch]" course start',
    "cd build-a-transformer && course",
}
"""How to install the wheel, and what follows: tests/autograder/learner/test_wheel.py does it."""

EXTENSION = {
    "pip install -e '.[lsp]'",
    "pip install -e '.[mcp]'",
    "cd editors/vscode && npm ci && npm run package",
    "code --install-extension editors/vscode/build-a-transformer.vsix",
}
AUTHOR = 'python -m pip install --constraint constraints.txt --editable ".[author]"'
SYSTEMS = {
    "python3 install.py",
    f"{ACTIVATE} && course",
    "export PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu",
    "uv venv --python 3.12",
    'uv pip install --constraint constraints.txt --editable ".[torch,review]"',
    "conda create --yes --name transformer python=3.12",
    "conda activate transformer",
}
"""What docs/install.md has for each system. test_install.py tests the script."""

POWERSHELL = [
    "py install.py",
    r".venv\Scripts\Activate.ps1",
    "course",
    "Set-ExecutionPolicy -Scope Process RemoteSigned",
]
"""All lines of docs/install.md for Windows: there they were not run."""

WATCHING = {"course watch", "course validate 05 --watch"}
OF_NOTEBOOK = "course import nbgrader ps1/problem1.ipynb"
"""tests/autograder/authoring/test_import.py runs it on a notebook."""

BY_HAND = {*LEARN, *INSTALL, *SYSTEMS, AUTHOR, *WATCHING, OF_NOTEBOOK, *EXTENSION}
"""What sets the project up, goes on until somebody quits, or needs Node or a notebook. So is every target of make: it
calls these tests, downloads gigabytes, or takes half an hour."""

LONG = {"dashboard.md", "nbgrader.md", "play.md", "practice.md", "term.md"}
"""Pages whose commands take many seconds."""

LONG_COMMANDS = {
    "course play demo",
    "course doctor",
    "course grade examples/class --take one --out build/grades",
    "course validate 05",
    'pytest tests/autograder/course -m "not worker"',
}
"""Commands of other pages that take as long: the short proof tests each of them in its own room, or runs it itself."""

WHOLE = {"authoring.md", "release.md", "scale.md"}
"""Pages whose commands prove, release or grade the whole course once more: only `make proof` runs them."""

EXPECTED = {
    "cd examples/autodiff && course grade term/week2 --assignment week2 --out build/week2": 4,
    "course check attention": 1,
    "course check 05": 1,
    "course check 05 --brief": 1,
    "course check 05 --no-brief": 1,
    "course why": 2,
    "course hunt --check": 1,
    "course quiz 01": 2,
    "course quiz 05": 2,
    "course arrange 01": 2,
    "course play translate": 1,
    "course play write": 1,
    "course play chat": 1,
    "course play look": 2,
    "course play serve": 1,
    "course solution 05": 2,
}
"""What a command exits with where it is not 0: on stubs no check passes, and there is no mistake to explain."""


ONLY_FOUND = {"PYTEST_ADDOPTS": "--collect-only"}
"""What has a command of pytest find its tests and run none: they run beside this one."""


def commands() -> list[tuple[str, str]]:
    """Return every command once, with the page that has it first."""
    found: dict[str, str] = {}
    in_stories = {command for page in STORIES for command in commands_of(page)}
    for page in PAGES:
        for line in commands_of(page):
            if line not in in_stories and line not in BY_HAND and not line.startswith("make "):
                found.setdefault(line, page.name)
    return [(page, command) for command, page in found.items()]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("docs") / "project"
    unused = (".venv", ".git", ".course", "node_modules", "__pycache__", ".*_cache", "build", ".hypothesis")
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*unused))
    if (ROOT / ".course" / "cache").is_dir():
        shutil.copytree(ROOT / ".course" / "cache", copy / ".course" / "cache", copy_function=tiny.linked)
    seed = tomllib.loads((ROOT / "course.toml").read_text("utf-8"))["seed"]
    (copy / ".course").mkdir(exist_ok=True)
    (copy / ".course" / "grading_seed").write_text(f"{seed}\n")  # its answer keys are there already
    return copy


@pytest.mark.worker
@pytest.mark.parametrize(
    ("page", "command"),
    [
        pytest.param(*command, marks=[pytest.mark.slow] if {*command} & {*LONG, *LONG_COMMANDS, *WHOLE} else [])
        for command in commands()
        if tiny.EVERYTHING or command[0] not in WHOLE
    ],
)
def test_a_command_of_the_docs_runs(project: Path, page: str, command: str) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    ran = subprocess.run(
        command,
        shell=True,
        cwd=project,
        env=tiny.environment({"PATH": path, "PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "", **ONLY_FOUND}),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == EXPECTED.get(command, 0), f"{page}: {command}\n{ran.stdout}\n{ran.stderr}"
    assert "Traceback" not in ran.stderr


def dry_run(folder: Path, target: str) -> list[str]:
    """Return the lines that make would run for a target in a folder, in which nothing is built."""
    command = ["make", "--dry-run", "--file", str(ROOT / "Makefile"), target]
    # The tests may run below `make test`, whose variables would change what this make prints.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the files that an installation depends on, and without one."""
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv").mkdir()
    return tmp_path


@pytest.mark.worker
def test_make_learn_installs_the_clone_and_says_what_the_readme_says(clone: Path) -> None:
    assert f"make learn && {ACTIVATE}" in (ROOT / "README.md").read_text("utf-8")
    ran = dry_run(clone, "learn")
    assert [line for line in ran if "install" in line] == ["python3 install.py learn"]
    assert ran[-1].endswith(f'Next: {ACTIVATE} && course"')


@pytest.mark.worker
def test_what_a_learner_installs_is_enough_for_the_demo_and_not_for_the_tests(clone: Path) -> None:
    assert not [line for target in ("learn", "demo") for line in dry_run(clone, target) if "install.py dev" in line]
    assert all("python3 install.py dev" in dry_run(clone, target) for target in ("setup", "lint"))


@pytest.mark.worker
def test_each_installation_is_made_once_and_the_larger_one_includes_the_smaller(clone: Path) -> None:
    (clone / ".venv" / "learn").touch()
    assert "python3 install.py learn" not in dry_run(clone, "learn")
    assert "python3 install.py dev" in dry_run(clone, "setup")
    (clone / ".venv" / "learn").unlink()
    assert "touch .venv/learn .venv/ready" in dry_run(clone, "setup")


def test_each_line_for_windows_is_listed_and_the_page_says_that_it_was_not_run_there() -> None:
    page = (ROOT / "docs" / "install.md").read_text("utf-8")
    blocks = re.findall(r"```powershell\n(.*?)```", page, re.DOTALL)
    assert [line for block in blocks for line in block.splitlines()] == POWERSHELL
    assert "| Windows, macOS, conda | not run yet" in page


def test_a_learner_installs_five_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["torch"]]
    assert {re.split(r"[<>=]", line)[0] for line in needed} == {"jinja2", "numpy", "pytest", "rich", "torch"}


def test_the_readme_begins_with_what_a_learner_types_and_a_picture() -> None:
    first = (ROOT / "README.md").read_text("utf-8").splitlines()[:10]
    assert [line.split("#")[0].strip() for line in first[5:7]] == [f"make learn && {ACTIVATE}", "course"]
    assert len([line for line in first if line.startswith("![")]) == 1


def test_every_target_of_the_docs_is_in_the_makefile() -> None:
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    named = {*re.findall(r"`(make [a-z-]+)`", text), *re.findall(r"^(make [a-z-]+)", text, re.MULTILINE)}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert {name.removeprefix("make ") for name in named} <= targets


def test_the_names_on_the_page_of_the_architecture_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    names = re.findall(r"`([a-z_]+\.[\w.]+)`", page[page.index("## From a learner's file") :])
    assert len(names) > 9
    for name in names:
        pkgutil.resolve_name(f"autograder.{name}")


def test_the_page_on_grading_lists_every_status_and_kind_of_finding() -> None:
    page = (ROOT / "docs" / "grading.md").read_text("utf-8")
    for field, values in (("exercises[].status", Status), ("kind", FindingKind)):
        row = next(line for line in page.splitlines() if line.startswith(f"| `{field}` |"))
        assert set(re.findall(r"`(\w+)`", row.split("|")[2])) == set(get_args(values))


def test_the_links_of_the_docs_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which does not exist"


def test_the_readme_states_the_counts_of_the_page_of_misconceptions() -> None:
    page = (ROOT / "docs" / "misconceptions.md").read_text("utf-8")
    total = next(line for line in page.splitlines() if line.startswith("| total |"))
    _, misconceptions, caught, named, *_ = re.findall(r"\d+", total)
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"recognises {misconceptions} common mistakes" in readme
    assert f"that {named} of them get their own name" in readme
    assert caught == misconceptions
