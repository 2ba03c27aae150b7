"""Each application can be removed: its commands are gone, and nothing else breaks."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.cli.program import COMMANDS, OVERVIEW, file_of
from tests.autograder.project.test_boundaries import APPLICATIONS
from tests.support import plain, tiny

LOADED = """
import sys
from autograder.cli import run
for name in {names}:
    try:
        run([name, "--help"])
    except SystemExit:
        pass
print("loaded", len({names}))
"""
GONE = """
from autograder.cli import run
print({{run([name]) for name in {names}}})
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engine")
    shutil.copytree(tiny.REPOSITORY / "autograder", folder / "autograder")
    return folder


def run(engine: Path, course: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", *arguments],
        cwd=course,
        env=tiny.environment({"PYTHONPATH": str(engine), "PYTHONDONTWRITEBYTECODE": "1"}),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.mark.worker
@pytest.mark.parametrize("application", APPLICATIONS)
def test_without_an_application_the_other_commands_work(application: str, engine: Path, tmp_path: Path) -> None:
    course = Path(shutil.copytree(plain.ROOT, tmp_path / "course"))
    folder = engine / "autograder" / application
    aside = tmp_path / application
    folder.rename(aside)
    try:
        own = {
            name for name in COMMANDS if str(file_of(name)).startswith(f"{tiny.REPOSITORY}/autograder/{application}/")
        }
        others = sorted(set(COMMANDS) - own)
        shown = run(engine, course, "-m", "autograder", "--help")
        listed = {line.split()[0] for line in shown.stdout.splitlines() if line.startswith("   ") and line.strip()}
        assert set(others) <= listed, shown.stderr
        assert not own & listed
        loaded = run(engine, course, "-c", LOADED.format(names=others))
        assert f"loaded {len(others)}" in loaded.stdout, loaded.stderr
        assert "Error" not in loaded.stderr
        gone = run(engine, course, "-c", GONE.format(names=own))
        assert (gone.stdout, "Traceback" in gone.stderr) == ("{2}\n" if own else "set()\n", False), gone.stderr
        if application != "learner":
            checked = run(engine, course, "-m", "autograder", "check", "1", "--submission", "solutions", "--plain")
            assert checked.returncode == 0, checked.stderr
            assert run(engine, course, "-m", "autograder").returncode == 0
        else:
            assert f"course {OVERVIEW}` is not part" in run(engine, course, "-m", "autograder").stderr
    finally:
        aside.rename(folder)
