"""The file of an exercise with programs to practise on: right ones in several styles, and wrong ones with one fault."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course.model import Course, Exercise
from autograder.course.storage import FOLDER

HUNTS = "hunts"
"""A folder beside the checks of a kit. It is there only for exercises that the author of the kit chose."""

Grid = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Example:
    """A step of the lesson's example: its numbers on paper, and those of the wrong program."""

    title: str
    paper: Grid
    wrong: Grid


@dataclass(frozen=True)
class Hunt:
    """A wrong program: an accepted variant with one fault, the misconception that it shows, and its faulty lines.

    `check` is the id of the check that fails first. `example` is the first step of the lesson's example that the
    fault changes, if there is one.
    """

    id: str
    misconception: str
    check: str
    variant: str
    lines: tuple[int, ...]
    source: str
    example: Example | None = None


@dataclass(frozen=True)
class HuntFile:
    """The programs of an exercise: `right` has the accepted variants by name."""

    exercise: str
    right: Mapping[str, str]
    hunts: tuple[Hunt, ...]

    def to_json(self) -> str:
        """Return the text of the file."""
        hunts = [
            {
                "id": hunt.id,
                "misconception": hunt.misconception,
                "check": hunt.check,
                "variant": hunt.variant,
                "lines": hunt.lines,
                "source": hunt.source,
                "example": vars(hunt.example) if hunt.example else None,
            }
            for hunt in self.hunts
        ]
        return json.dumps({"exercise": self.exercise, "right": dict(self.right), "hunts": hunts}, indent=1) + "\n"


def read_hunts(file: Path) -> HuntFile | None:
    """Return the programs in a file; None if there is no such file, or it cannot be read."""
    try:
        data = json.loads(file.read_text("utf-8"))
        hunts = tuple(
            Hunt(
                str(one["id"]),
                str(one["misconception"]),
                str(one["check"]),
                str(one["variant"]),
                tuple(int(line) for line in one["lines"]),
                str(one["source"]),
                _example(one["example"]) if one["example"] else None,
            )
            for one in data["hunts"]
        )
        return HuntFile(str(data["exercise"]), {str(k): str(v) for k, v in data["right"].items()}, hunts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def kit_hunts(course: Course, exercise: Exercise) -> Path:
    """Return the file of an exercise in a kit."""
    return course.checks_dir / HUNTS / f"{exercise.id}.json"


def own_hunts(course: Course, exercise: Exercise, digest: str) -> Path:
    """Return the file that a course with solutions keeps for itself, for this state of its checks and programs."""
    return course.root / FOLDER / "cache" / HUNTS / f"{exercise.id}-{digest[:16]}.json"


def _example(data: Mapping[str, Any]) -> Example:
    paper, wrong = (tuple(tuple(str(cell) for cell in row) for row in data[key]) for key in ("paper", "wrong"))
    return Example(str(data["title"]), paper, wrong)
