"""Print results on terminals of any size, and compare them with texts that a person has read and approved."""

import io
import os
from pathlib import Path
from typing import Literal

from rich.console import Console

from autograder.report import UNICODE, render_exercise
from autograder.results import ExerciseResult

SNAPSHOTS = Path(__file__).parents[1] / "autograder" / "report" / "snapshots"
NEXT = (
    ("edit ex05_attention.py:21", "a save re-runs the check"),
    ("course hint 5", "hint 2 of 3"),
    ("course why attention-not-scaled", "what this misconception is"),
)


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def printed(exercise: ExerciseResult, width: int = 80) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=False)
    render_exercise(console, exercise, file_path=None, next_commands=(), glyphs=UNICODE)
    return stream.getvalue()


def on_terminal(
    width: int = 80, height: int = 50, colors: Literal["standard", "256", "truecolor"] = "standard"
) -> Console:
    return Console(
        file=Terminal(), width=width, height=height, color_system=colors, force_terminal=True, legacy_windows=False
    )


def assert_as_read(name: str, text: str) -> None:
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path.name} differs from what is printed"
