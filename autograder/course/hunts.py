"""The file of an exercise with programs to practise on: right ones in several styles, and wrong ones with one fault."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograder.course.model import Course, Exercise
from autograder.course.storage import read_plain

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

    `checks` are the ids of those that fail, the first one first. `example` is the first step of the lesson's example
    that the fault changes, if there is one.
    """

    id: str
    misconception: str
    checks: tuple[str, ...]
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
        data = json.loads(read_plain(file))
        return HuntFile(str(data["exercise"]), dict(data["right"]), tuple(map(_hunt, data["hunts"])))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def nothing_to_hunt(programs: HuntFile) -> str:
    """Return the sentence for an exercise without a wrong program: what its author can write."""
    folder = f"solutions/accepted/{programs.exercise}"
    if not programs.right:
        return f"{programs.exercise} has no programs to practise on, for {folder} has no right program; write one there"
    found = f"no change of a program in {folder} shows a misconception of {programs.exercise} by name"
    return f"{found}; write one there with the text of some `find`, or choose another exercise"


def kit_hunts(course: Course, exercise: Exercise) -> Path:
    """Return the file of an exercise in a kit."""
    return course.checks_dir / HUNTS / f"{exercise.id}.json"


def _hunt(data: Mapping[str, Any]) -> Hunt:
    example = data["example"]
    if example is not None:
        paper, wrong = (tuple(map(tuple, example[key])) for key in ("paper", "wrong"))
        example = Example(str(example["title"]), paper, wrong)
    return Hunt(**{**data, "lines": tuple(data["lines"]), "checks": tuple(data["checks"]), "example": example})
