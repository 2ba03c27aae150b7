"""The file of an exercise with programs to practise on: right ones in several styles, and wrong ones with one fault."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograder.course.model import Course, Exercise

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
        return json.dumps(asdict(self), indent=1) + "\n"


def read_hunts(file: Path) -> HuntFile | None:
    """Return the programs in a file; None if there is no such file, or it cannot be read."""
    try:
        data = json.loads(file.read_text("utf-8"))
        hunts = (Hunt(**{**one, "lines": tuple(one["lines"]), "example": _example(one)}) for one in data["hunts"])
        return HuntFile(str(data["exercise"]), dict(data["right"]), tuple(hunts))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def kit_hunts(course: Course, exercise: Exercise) -> Path:
    """Return the file of an exercise in a kit."""
    return course.checks_dir / HUNTS / f"{exercise.id}.json"


def _example(hunt: Mapping[str, Any]) -> Example | None:
    data = hunt["example"]
    if data is None:
        return None
    paper, wrong = (tuple(tuple(str(cell) for cell in row) for row in data[key]) for key in ("paper", "wrong"))
    return Example(str(data["title"]), paper, wrong)
