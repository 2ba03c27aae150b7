"""Store the last report on each exercise in `.course/last/`, for `course diff`.

These files stay on this machine: they have lines of the learner's code.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import Course, Exercise
from autograder.course.storage import FOLDER, read_plain, remove, state_folder, write_atomically
from autograder.results import ExerciseResult
from autograder.results.reading import from_json


@dataclass(frozen=True)
class LastReport:
    """A report on one exercise as JSON, with its time, the digest of the file, and checksums of its lines."""

    report: Mapping[str, Any]
    at: str
    file: str | None
    lines: Sequence[int]

    @property
    def exercise(self) -> Mapping[str, Any]:
        """The exercise's own part of the report."""
        exercise: Mapping[str, Any] = self.report["exercises"][0]
        return exercise

    @property
    def result(self) -> ExerciseResult:
        """The result of the exercise; raises one of `UNREADABLE` if the report is of another version."""
        return from_json(self.report).exercises[0]

    @property
    def failure(self) -> Mapping[str, Any] | None:
        """The check to look at first, as in the report; None if every check passes."""
        first = self.result.first_failure
        return next((check for check in self.exercise["checks"] if first and check["id"] == first.id), None)


def read_last(course: Course, exercise: Exercise) -> LastReport | None:
    """Return the last report on an exercise; None if there is none, it cannot be read, or it is of another version."""
    try:
        data = json.loads(read_plain(_file(course.root / FOLDER / "last", exercise)))
        last = LastReport(data["report"], str(data["at"]), data["file"], [int(checksum) for checksum in data["lines"]])
        if last.exercise["id"] != exercise.id:
            return None
        _ = last.failure  # raises if something is missing
        return last
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return None


def save_last(course: Course, exercise: Exercise, last: LastReport) -> None:
    """Store a report as the last one on an exercise. Raises OSError."""
    data = {"version": 1, "at": last.at, "file": last.file, "lines": list(last.lines), "report": last.report}
    write_atomically(_file(state_folder(course.root, "last"), exercise), json.dumps(data) + "\n")


def delete_last(course: Course, exercise: Exercise) -> None:
    """Delete the last report on an exercise: its file was reset."""
    remove(_file(course.root / FOLDER / "last", exercise))


def _file(folder: Path, exercise: Exercise) -> Path:
    return folder / f"{exercise.id}.json"
