"""Where a learner is: the last verdict of each exercise and the hints shown, in `.course/progress.json`.

There is no code and no name in it. It is written whole or not at all; one that cannot be read is begun anew.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.course import Course, Exercise
from autograder.report.model import ExerciseResult

VERSION = 1
FOLDER = ".course"


@dataclass(frozen=True)
class Standing:
    """The last verdict of one exercise, its first failure, and how many of that failure's hints were shown."""

    status: str = "not_started"
    score: int = 0
    max_score: int = 0
    passing: int = 0
    checks: int = 0
    ever_passed: bool = False
    check: str | None = None
    title: str | None = None
    finding: str | None = None
    hints: tuple[str, ...] = ()
    hints_shown: int = 0


@dataclass(frozen=True)
class Progress:
    """The standings by exercise; names that the course does not know are kept."""

    standings: Mapping[str, Standing] = field(default_factory=dict)

    def of(self, exercise: Exercise) -> Standing:
        return self.standings.get(exercise.id, Standing())

    def current(self, course: Course) -> Exercise | None:
        """Return the exercise to work on: the first that does not pass; None when all do."""
        return next((each for each in course.exercises if self.of(each).status != "pass"), None)

    def after(self, result: ExerciseResult) -> "Progress":
        """Return the progress with one more verdict in it. The first hint of a failure is shown with it."""
        before = self.standings.get(result.id, Standing())
        failure = result.first_failure
        finding = failure.finding.id if failure and failure.finding else None
        same = failure is not None and (before.check, before.finding) == (failure.id, finding)
        now = Standing(
            status=result.status,
            score=result.score,
            max_score=result.max_score,
            passing=sum(each.status == "pass" for each in result.checks),
            checks=len(result.checks),
            ever_passed=before.ever_passed or result.status == "pass",
            check=failure.id if failure else None,
            title=failure.title if failure else None,
            finding=finding,
            hints=failure.hints if failure else (),
            hints_shown=max(before.hints_shown if same else 0, 1) if failure and failure.hints else 0,
        )
        return Progress({**self.standings, result.id: now})

    def after_hint(self, exercise: Exercise) -> "Progress":
        """Return the progress with one more hint shown."""
        standing = self.of(exercise)
        shown = min(standing.hints_shown + 1, len(standing.hints))
        return Progress({**self.standings, exercise.id: replace(standing, hints_shown=shown)})


def read_progress(course: Course) -> Progress:
    """Return the progress kept beside a course; an empty one where there is none, or none that can be read."""
    try:
        data = json.loads((course.root / FOLDER / "progress.json").read_text("utf-8"))
        return Progress({str(name): _standing(each) for name, each in data["exercises"].items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Progress()


def _standing(data: Mapping[str, Any]) -> Standing:
    known = {name: data[name] for name in Standing.__dataclass_fields__ if name in data}
    standing = Standing(**{**known, "hints": tuple(str(each) for each in known.get("hints", ()))})
    numbers = (standing.score, standing.max_score, standing.passing, standing.checks, standing.hints_shown)
    if not isinstance(standing.status, str) or not all(isinstance(each, int) for each in numbers):
        raise ValueError("not a standing")
    return standing


def write_progress(course: Course, progress: Progress) -> None:
    """Keep the progress; raises OSError where it cannot be written."""
    data = {"version": VERSION, "exercises": {name: asdict(each) for name, each in progress.standings.items()}}
    folder = course.root / FOLDER
    folder.mkdir(exist_ok=True)
    write_whole(folder / "progress.json", json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def write_whole(file: Path, text: str) -> None:
    """Write a file whole or not at all: whoever reads it never sees a part. Raises OSError."""
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name[:40]}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
