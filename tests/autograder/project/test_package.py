"""The wheel holds all that a course needs: from `course init` to a kit, outside of the checkout."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from autograder import __version__
from autograder.authoring.release import engine_files
from autograder.course import read_course
from tests.support import tiny
from tests.support.pages import commands_of

pytestmark = pytest.mark.worker

PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
SET_UP = ["python3 -m venv .venv", "source .venv/bin/activate", "pip install --requirement requirements.txt"]
EXPECTED = {"course check 1": 1}
"""What a command exits with where it is not 0: nothing is written yet."""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the wheel."""
    folder = tmp_path_factory.mktemp("wheels")
    run([*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(tiny.REPOSITORY)], folder)
    return folder


@pytest.fixture(scope="module")
def environment(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel; what it depends on is taken from this one."""
    return made(tmp_path_factory.mktemp("environment") / "venv", *map(str, wheels.glob("*.whl")))


def made(folder: Path, *installed: str) -> Path:
    """Return a new environment with some distributions."""
    run([sys.executable, "-m", "venv", "--without-pip", str(folder)], folder.parent)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install = [*PIP, "--python", str(folder / "bin" / "python"), "install", "--no-deps", "--no-build-isolation"]
    run([*install, "--no-index", *installed], folder.parent)
    return folder


def run(command: list[str], folder: Path, environment: Path | None = None, expected: int = 0) -> str:
    """Run a command as a user whose own files are in the folder, and return what it prints."""
    home = folder if environment is None else environment.parent
    paths = [str(environment / "bin")] if environment else []
    variables = {"PATH": os.pathsep.join([*paths, os.environ["PATH"]]), "XDG_CONFIG_HOME": str(home / "config")}
    clean = {name: value for name, value in tiny.environment(variables).items() if name != "COURSE_TRUST"}
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == expected, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_a_new_course_runs_every_command_of_its_readme(environment: Path, wheels: Path, tmp_path: Path) -> None:
    """That of a course with a library is the same; test_init.py proves such courses."""
    course, program = tmp_path / "my-course", str(environment / "bin" / "course")
    assert run([program, "--version"], tmp_path, environment) == f"course {__version__}\n"
    run([program, "init", str(course)], tmp_path, environment)
    commands = commands_of(course / "README.md")
    assert commands[:3] == SET_UP
    pins = [*PIP, "--python", str(environment / "bin" / "python"), "install", "--dry-run", "--no-deps", "--no-index"]
    run([*pins, "--find-links", str(wheels), *SET_UP[2].split()[2:]], course, environment)
    for command in commands[3:]:
        run(["bash", "-c", command], course, environment, EXPECTED.get(command, 0))
    assert run([program, "build", "--check"], course, environment)
    assert "ada,100.00,100.00,50.00,50.00," in (course / "build" / "grades" / "scores.csv").read_text("utf-8")

    kit = course / "build" / "kit"
    student = made(tmp_path / "student", "--editable", str(kit))
    own = str(student / "bin" / "course")
    run([own, "check", "1"], kit, student, 1)
    (kit / "exercises" / "ex01_distances.py").write_bytes((course / "solutions" / "ex01_distances.py").read_bytes())
    assert "PASS" in run([own, "check", "1"], kit, student)


def test_a_kit_of_the_package_is_the_kit_of_the_checkout(environment: Path, tmp_path: Path) -> None:
    text = "import sys; from pathlib import Path; from autograder.authoring.release import engine_files; "
    text += "from autograder.course import read_course; "
    text += f"sys.stdout.write(repr(engine_files(read_course(Path({str(tiny.REPOSITORY)!r})))))"
    here = engine_files(read_course(tiny.REPOSITORY))
    there = eval(run([str(environment / "bin" / "python"), "-c", text], tmp_path, environment))
    assert {name for name in here if here[name] != there.get(name)} == set()
    assert set(there) == set(here)
