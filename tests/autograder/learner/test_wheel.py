"""From the wheel to the first exercise: `make dist`, an empty environment, `course start`, and a newer wheel."""

import os
import re
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from autograder.authoring.release import archive
from autograder.course import KIT
from autograder.learner.command_start import read_kit
from tests.support import tiny

pytestmark = [pytest.mark.worker, pytest.mark.slow]

MOST_BYTES = 10_000_000
"""The wheel of this course without the weights of its demo: 8 MB for parts one and two, 2 MB for part three."""

MOST_WEIGHTS = 3_000_000

FIRST = "exercises/ex01_embeddings.py"
RIGHT = (tiny.REPOSITORY / "solutions" / "ex01_embeddings.py").read_bytes()
WRONG = RIGHT.replace(b"rows * self.scale", b"rows")


def run(command: list[str], folder: Path, expected: int | None = 0, **variables: str) -> str:
    """Run a command in a folder in which nobody trusts a course, and return what it prints as one line."""
    clean = {name: value for name, value in os.environ.items() if name not in ("COURSE_TRUST", "PYTHONPATH")}
    environment = {**clean, "COLUMNS": "80", **variables}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1800, check=False
    )
    said = " ".join((done.stdout + done.stderr).split())
    assert expected is None or done.returncode == expected, said
    assert "Traceback" not in said
    return said


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this course, as `make dist` builds it."""
    folder = tmp_path_factory.mktemp("dist")
    makefile = (tiny.REPOSITORY / "Makefile").read_text("utf-8")
    assert "$(BIN)/course release build/dist --wheel\n" in makefile
    command = [sys.executable, "-m", "autograder", "release", str(folder), "--wheel"]
    assert "nothing of the solutions is in it" in run(command, tiny.REPOSITORY, COURSE_TRUST="1")
    [built] = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment in which pip installed the wheel, without torch."""
    folder = tmp_path_factory.mktemp("user") / "venv"
    run([sys.executable, "-m", "venv", str(folder)], folder.parent)
    python = str(folder / "bin" / "python")
    said = run([python, "-m", "pip", "install", str(wheel)], folder.parent, None)
    if "Successfully installed" not in said:
        pytest.skip(f"pip cannot install the small packages here: {said[-300:]}")
    return folder


def test_the_wheel_has_the_kit_no_solution_and_at_most_8_megabytes(wheel: Path, tmp_path: Path) -> None:
    weights = sum(file.stat().st_size for file in (tiny.REPOSITORY / "play" / "weights").glob("*.npz"))
    assert 0 < weights <= MOST_WEIGHTS
    assert wheel.stat().st_size - weights <= MOST_BYTES
    assert not KIT.exists(), "a clone never has a kit"
    with zipfile.ZipFile(wheel) as contents:
        names = contents.namelist()
        (tmp_path / "kit").write_bytes(contents.read(f"autograder/{KIT.name}"))
    assert not [name for name in names if name.startswith(("solutions", "exercises", "tests"))]
    kit = read_kit(tmp_path / "kit")
    assert {name.split("/")[0] for name in kit} >= {"exercises", "tests", "key", "play", "course.toml", "LICENSE"}
    assert not [name for name in kit if name.startswith(("solutions", "autograder"))]
    assert RIGHT not in kit.values()


def test_a_learner_begins_with_two_commands_and_gets_a_newer_kit(environment: Path) -> None:
    place = environment.parent
    program = str(environment / "bin" / "course")

    def course(folder: Path, *words: str, expected: int = 0) -> str:
        return run([program, *words], folder, expected, XDG_CONFIG_HOME=str(place / "config"))

    said = course(place, "start")
    assert 'pip install "build-a-transformer[torch]" your code needs it' in said
    assert "cd build-a-transformer && course" in said
    [packages] = environment.glob("lib/python*/site-packages")
    spec = find_spec("torch")
    assert spec is not None
    (packages / "torch.pth").write_text(f"{Path(str(spec.origin)).parents[1]}\n")
    folder = place / "build-a-transformer"
    assert "[torch]" not in course(folder, "start")
    assert "01 token embeddings NOT STARTED" in course(folder)
    assert "Part two, The modern Transformer" in course(folder, "list")
    assert WRONG != RIGHT
    (folder / FIRST).write_bytes(WRONG)
    assert "FAIL" in course(folder, "check", expected=1)
    assert "Hint 1 of" in course(folder, "hint")
    (folder / FIRST).write_bytes(RIGHT)
    assert "PASS" in course(folder, "check")

    file = packages / "autograder" / KIT.name
    kit = read_kit(file)
    stub = re.sub(rb"\n\n\n", b"\n\n# A newer stub.\n\n", kit[FIRST], count=1)
    newer = {FIRST: stub, f".course/stubs/{Path(FIRST).name}": stub, "tests/exercises/hints/new.toml": b"# new\n"}
    file.write_bytes(archive(kit | newer))
    said = course(folder, "start")
    assert "Files added: 1 file of hints." in said
    assert "Your code stays as it is: 01 token embeddings." in said
    assert "After you started, the lesson or stub changed: 01 token embeddings." in said
    assert "+# A newer stub." in course(folder, "start", "--diff")
    assert (folder / FIRST).read_bytes() == RIGHT
    assert "PASS" in course(folder, "check", "1")
