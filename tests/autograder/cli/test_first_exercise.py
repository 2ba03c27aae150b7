"""The tutorial docs/first-exercise.md, followed to the letter: its files are written, and its commands run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import tiny

PAGE = tiny.REPOSITORY / "docs" / "first-exercise.md"
BLOCK = re.compile(r"^([^\n]*\n[^\n]*)\n\n```(\w+)\n(.*?)```", re.MULTILINE | re.DOTALL)
EXPECTED = {"course check 2": 1}
"""What a command exits with where it is not 0: a student has written nothing yet."""


def ran(command: str, folder: Path) -> str:
    words = [sys.executable, "-m", "autograder", *command.split()[1:]]
    home = {"XDG_CONFIG_HOME": str(folder / "config")}
    done = subprocess.run(
        words, cwd=folder, env=tiny.environment(home), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == EXPECTED.get(command, 0), f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def written(folder: Path, sentence: str, text: str) -> None:
    """Write a block of the page into the file that the sentence above it names last."""
    *removed, name = re.findall(r"`([\w/.]+\.(?:py|toml))`", sentence)
    for other in removed:
        (folder / other).unlink()
    file = folder / name
    file.write_text(text, "utf-8")


@pytest.mark.worker
def test_the_tutorial_makes_an_exercise_that_holds(tmp_path: Path) -> None:
    folder, printed = tmp_path, ""
    for sentence, language, text in BLOCK.findall(PAGE.read_text("utf-8")):
        if language == "text":
            assert text.strip() in printed
        elif language != "sh":
            written(folder, sentence, text)
        for command in text.splitlines() if language == "sh" else ():
            if command.startswith("cd "):
                folder = folder / command.removeprefix("cd ")
            else:
                printed += ran(command, folder)
    assert "✓ PASS 02 averages  3 checks, 50 points" in printed
    assert "NOT STARTED 02 averages" in printed
