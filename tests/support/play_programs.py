"""Activities of the course, run with correct programs, and with one mistake in them."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autograder.answer_key import patched, read_catalogue
from autograder.course import read_course, state_folder
from autograder.play.stage import Checkpoint, FaultyExercise, _made_by
from autograder.submission import read_own
from autograder.worker import Sources
from play.demo import Teller
from tests.support import tiny

COURSE = read_course(tiny.REPOSITORY)
PROGRAM = tiny.REPOSITORY / "autograder" / "play" / "__main__.py"
SOLUTIONS = {exercise.file: (COURSE.solutions_dir / exercise.file).read_bytes() for exercise in COURSE.exercises}
WHOLE = COURSE.solutions_dir / "accepted" / "whole"
VARIANTS = sorted(path.name for path in WHOLE.iterdir())
"""Complete courses that are correct, and written differently."""


def variant(name: str) -> dict[str, bytes]:
    """Return the sources of an accepted variant."""
    return {file.name: file.read_bytes() for file in (WHOLE / name).glob("*.py")}


def wrong(misconception: str) -> dict[str, bytes]:
    """Return the solutions with one misconception."""
    for exercise in COURSE.exercises:
        solution = SOLUTIONS[exercise.file].decode()
        for entry in read_catalogue(COURSE.solutions_dir / "misconceptions" / f"{exercise.id}.toml", solution):
            if entry.id == misconception:
                return {**SOLUTIONS, exercise.file: patched(solution, entry).encode()}
    raise AssertionError(f"no misconception is called {misconception}")


def solved(folder: Path) -> Path:
    """Make a course with its activities, whose exercises are all solved."""
    for name in ("course.toml", "play", "solutions"):
        (folder / name).symlink_to(tiny.REPOSITORY / name)
    (folder / "exercises").mkdir()
    for name, source in SOLUTIONS.items():
        (folder / "exercises" / name).write_bytes(source)
    return folder


def played(root: Path, activity: str, **request: Any) -> subprocess.CompletedProcess[str]:
    """Run an activity as `course play` does after it has checked the exercises."""
    common = {"device": "cpu", "seed": 1, "say": [], "fresh": False, "anyway": False}
    more: dict[str, Any] = {"json": None, "submission": None, "plain": True, "color": None, "wrong": []}
    asked = {"root": str(root), "activity": activity, **common, **more, **request}
    return subprocess.run(
        [sys.executable, "-P", str(PROGRAM), json.dumps(asked)],
        cwd=root,
        env=tiny.environment({}),
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=300,
        check=False,
    )


def trained_chat(root: Path) -> None:
    """Write the checkpoint of `chat` as if the solutions had been trained: with the weights of the demo."""
    course = read_course(root)
    activity = next(activity for activity in course.play if activity.id == "chat")
    made_by = _made_by(course, activity, read_own(course), 1)
    with standing_on(SOLUTIONS, {}) as stage:
        teller = Teller(stage, ())
        data = {
            "step": 1,
            "wrong": [],
            "model": teller.model.state_dict(),
            "vocab": [list(teller.vocabulary[id_]) for id_ in sorted(teller.vocabulary)],
            "merges": [[list(first), list(second)] for first, second in teller.merges],
            "arguments": teller.arguments,
        }
        Checkpoint(state_folder(root, "play") / "chat.pt", made_by).save(data, {})


class RecordingStage(list):  # type: ignore[type-arg]
    """A stage that keeps the lines it prints, for a model that is examined in this process."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.options, self.seed, self.device, self.anyway = options, 1, "cpu", False
        self.print = self.append
        self.faults: list[tuple[str, str]] = []

    def own(self, exercise: str) -> Any:
        return importlib.import_module(exercise)

    def report_fault(self, exercise: str, message: str) -> None:
        self.faults.append((exercise, message))
        if not self.anyway:
            raise FaultyExercise(exercise, message)


@contextmanager
def standing_on(sources: Mapping[str, bytes], options: Mapping[str, Any]) -> Iterator[Any]:
    """Yield a stage whose modules are made of these sources."""
    own = Sources(sources, {})
    own.install()
    try:
        yield RecordingStage(options)
    finally:
        own.uninstall()
