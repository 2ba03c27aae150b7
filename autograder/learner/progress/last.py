"""The last report on each exercise, in `.course/last/`: what `course diff` shows without running anything.

It stays on this machine: beside the evidence it has the lines of the learner's file around a finding.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import Course, Exercise
from autograder.course.storage import FOLDER, own_folder, write_whole

MOST_BYTES = 16 << 20


@dataclass(frozen=True)
class Last:
    """A report on one exercise as JSON, when it was made, and from which file."""

    report: Mapping[str, Any]
    at: str
    file: str | None
    lines: Sequence[int]

    @property
    def exercise(self) -> Mapping[str, Any]:
        """The exercise's own part of the report."""
        found: Mapping[str, Any] = self.report["exercises"][0]
        return found

    @property
    def failure(self) -> Mapping[str, Any] | None:
        """The check to look at first, chosen as in the report itself; None where all pass."""
        failing = sorted((each for each in self.exercise["checks"] if each["status"] != "pass"), key=_is_bonus)
        return next((each for each in failing if each["status"] != "waits"), failing[0] if failing else None)


def _is_bonus(check: Mapping[str, Any]) -> bool:
    return bool(check.get("bonus"))


def read_last(course: Course, exercise: Exercise) -> Last | None:
    """Return the last report on an exercise; None where there is none that can be read."""
    try:
        file = _file(course.root / FOLDER / "last", exercise)
        if file.stat().st_size > MOST_BYTES:
            return None
        data = json.loads(file.read_text("utf-8"))
        last = Last(data["report"], str(data["at"]), data["file"], [int(each) for each in data["lines"]])
        if last.exercise["id"] != exercise.id:
            return None
        _ = [(each["id"], each["status"]) for each in last.exercise["checks"]]
        return last
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return None


def keep_last(course: Course, exercise: Exercise, last: Last) -> None:
    """Keep a report as the last one on an exercise. Raises OSError."""
    data = {"version": 1, "at": last.at, "file": last.file, "lines": list(last.lines), "report": last.report}
    write_whole(_file(own_folder(course.root, "last"), exercise), json.dumps(data, ensure_ascii=False) + "\n")


def forget_last(course: Course, exercise: Exercise) -> None:
    """Let the last report on an exercise go, as its file was put aside."""
    _file(course.root / FOLDER / "last", exercise).unlink(missing_ok=True)


def _file(folder: Path, exercise: Exercise) -> Path:
    return folder / f"{exercise.id}.json"
