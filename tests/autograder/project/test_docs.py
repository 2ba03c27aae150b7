"""Every command in README and docs is run, in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md"]
STORY = ROOT / "docs" / "classroom.md"
"""The page whose commands test_classroom.py runs, all of them and in their order."""

TARGETS = {f"make {target}" for target in ("attack", "check", "compat", "coverage", "demo", "docs", "proof", "test")}
BY_HAND = {*TARGETS, "source .venv/bin/activate", "course watch"}
"""What sets the project up, calls these tests, takes half an hour, or goes on until somebody quits."""

LONG = {"authoring.md", "nbgrader.md", "scale.md"}
"""Pages whose commands prove or grade the whole course once more: `make proof` runs them."""

EXPECTED = {
    "course check attention": 1,
    "course check 05": 1,
    "course why": 2,
    "course play translate": 1,
    "course play write": 1,
    "course play look": 1,
    "course solution 05": 2,
}
"""What a command exits with where it is not 0: on stubs no check passes, and there is no mistake to explain."""


def commands() -> list[tuple[str, str]]:
    """Return every command once, with the page that has it first."""
    found: dict[str, str] = {}
    told = commands_of(STORY)
    for page in PAGES:
        for line in commands_of(page):
            if line not in told and line not in BY_HAND:
                found.setdefault(line, page.name)
    return [(page, command) for command, page in found.items()]


def commands_of(page: Path) -> list[str]:
    """Return the commands of a page."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    lines = [re.sub(r"\s+#.*", "", line).strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("docs") / "project"
    ignored = shutil.ignore_patterns(".venv", ".git", "__pycache__", ".*_cache", "build", ".hypothesis")
    shutil.copytree(ROOT, copy, ignore=ignored)
    seed = tomllib.loads((ROOT / "course.toml").read_text("utf-8"))["seed"]
    (copy / ".course").mkdir(exist_ok=True)
    (copy / ".course" / "grading_seed").write_text(f"{seed}\n")  # its answer keys are there already
    return copy


@pytest.mark.worker
@pytest.mark.parametrize(
    ("page", "command"),
    [pytest.param(*each, marks=[pytest.mark.slow] if each[0] in LONG else []) for each in commands()],
)
def test_a_command_of_the_docs_runs(project: Path, page: str, command: str) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    ran = subprocess.run(
        command,
        shell=True,
        cwd=project,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(project)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == EXPECTED.get(command, 0), f"{page}: {command}\n{ran.stdout}\n{ran.stderr}"
    assert "Traceback" not in ran.stderr


def test_every_target_of_the_docs_is_in_the_makefile() -> None:
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    named = {*TARGETS, *re.findall(r"`(make [a-z-]+)`", text), *re.findall(r"^(make [a-z-]+)", text, re.MULTILINE)}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert {name.removeprefix("make ") for name in named} <= targets


def test_the_links_of_the_docs_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which does not exist"
