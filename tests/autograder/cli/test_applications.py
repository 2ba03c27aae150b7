"""Each application can be removed: its commands are gone, and nothing else breaks."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.cli.program import COMMANDS, OVERVIEW, file_of
from tests.autograder.project.test_boundaries import APPLICATIONS
from tests.support import plain, tiny

PROGRAM = """
import contextlib
from autograder.cli import run
for words in [["--help"], *([name, "--help"] for name in {others})]:
    with contextlib.suppress(SystemExit):
        run(words)
    print("=====")
print("loaded", len({others}))
print("gone", sorted({{run([name]) for name in {own}}}))
"""
"""Lists the commands, loads those of other applications, and tries the application's own."""


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
        done = run(engine, course, "-c", PROGRAM.format(others=others, own=own))
        shown = done.stdout.partition("=====")[0]
        listed = {line.split()[0] for line in shown.splitlines() if line.startswith("   ") and line.strip()}
        assert set(others) <= listed, done.stderr
        assert not own & listed
        assert f"loaded {len(others)}\ngone {[2] if own else []}\n" in done.stdout, done.stderr
        assert "Traceback" not in done.stderr
        assert "Error" not in done.stderr
    finally:
        aside.rename(folder)


@pytest.mark.worker
def test_a_learner_needs_no_application_but_their_own(engine: Path, tmp_path: Path) -> None:
    course = Path(shutil.copytree(plain.ROOT, tmp_path / "course"))
    alone = Path(shutil.copytree(engine, tmp_path / "alone"))
    for application in set(APPLICATIONS) - {"learner"}:
        shutil.rmtree(alone / "autograder" / application)
    checked = run(alone, course, "-m", "autograder", "check", "1", "--submission", "solutions", "--plain")
    assert checked.returncode == 0, checked.stderr
    assert run(alone, course, "-m", "autograder").returncode == 0
    shutil.rmtree(alone / "autograder" / "learner")
    assert f"course {OVERVIEW}` is not part" in run(alone, course, "-m", "autograder").stderr
