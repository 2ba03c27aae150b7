"""What a learner has practised, in `.course/practice.json`: the open hunt, finished hunts, and cards to review."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from autograder.course import Course
from autograder.course.storage import FOLDER, folder_lock, read_plain, set_aside, state_folder, write_atomically

FILE = "practice.json"


@dataclass
class Practice:
    """The stored data. `open` is the hunt that is not finished, `hunts` the answers to the others by their ids.

    `cards` has the schedule of each question for `course review`.
    """

    open: dict[str, Any] | None = None
    hunts: dict[str, Any] = field(default_factory=dict)
    cards: dict[str, Any] = field(default_factory=dict)


def read_practice(course: Course) -> Practice:
    """Return what was stored; nothing if there is no such file, or it cannot be read."""
    return _read(course) or Practice()


def _read(course: Course) -> Practice | None:
    try:
        data = json.loads(read_plain(course.root / FOLDER / FILE))
        is_open = isinstance(data.get("open"), dict)
        return Practice(data["open"] if is_open else None, dict(data.get("hunts", {})), dict(data.get("cards", {})))
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None


@contextmanager
def changing(course: Course) -> Iterator[Practice]:
    """Yield what was stored, and store what becomes of it. Raises OSError."""
    folder = state_folder(course.root)
    with folder_lock(folder):
        practice = _read(course)
        if practice is None:
            set_aside(folder / FILE)
            practice = Practice()
        yield practice
        write_atomically(folder / FILE, json.dumps(asdict(practice), indent=1) + "\n")
