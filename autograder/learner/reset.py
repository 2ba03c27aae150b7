"""Put the stub of an exercise back, and keep a copy of what the learner wrote."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from autograder.course import Course, Exercise
from autograder.course.kit_files import STUBS
from autograder.course.names import UsageError
from autograder.course.storage import make_folder, open_plain, read_plain, state_folder, write_atomically
from autograder.learner.progress import save_events
from autograder.learner.progress.events import Event, now
from autograder.learner.progress.last import delete_last


@dataclass(frozen=True)
class Reset:
    """What a reset did: the copy of the old file, if there was one, and a warning or ""."""

    backup: Path | None
    warning: str


def read_stub(course: Course, exercise: Exercise) -> bytes:
    """Return the stub of an exercise. Raises `UsageError` if this kit has none."""
    from autograder.course.stubs import StubError, stub_text

    try:
        stub = stub_text(course, exercise)
    except StubError as error:
        raise UsageError(str(error)) from error
    if stub is None:
        raise UsageError(
            f"the stub of {exercise.id} is not part of this kit: looked for {exercise.file} in solutions and {STUBS}; "
            "copy it from where you got the course; nothing was changed"
        )
    return stub.encode()


def read_work(course: Course, exercise: Exercise) -> bytes | None:
    """Return the learner's file; None if there is none."""
    try:
        return read_plain(course.exercises_dir / exercise.file, below=course.root)
    except FileNotFoundError:
        return None


def reset_exercise(course: Course, exercise: Exercise, stub: bytes, work: bytes | None) -> Reset:
    """Copy the learner's work, then replace it by the stub. Raises OSError if it cannot be copied."""
    backup = _back_up(course, exercise, work) if work is not None else None
    make_folder(course.exercises_dir, below=course.root)
    write_atomically(course.exercises_dir / exercise.file, stub.decode(), below=course.root)
    saved = save_events(course, [Event(now(), "reset", exercise.id, "reset")])
    delete_last(course, exercise)
    return Reset(backup, saved.warning)


def _back_up(course: Course, exercise: Exercise, work: bytes) -> Path:
    """Write a copy whose name has the time. Raises OSError."""
    folder = state_folder(course.root, "backups")
    stem = f"{exercise.id}-{time.strftime('%Y-%m-%dT%H%M')}"
    number = 1
    while True:
        backup = folder / (f"{stem}.py" if number == 1 else f"{stem}-{number}.py")
        try:
            descriptor = open_plain(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL)  # never replaces an earlier copy
        except FileExistsError:
            number += 1
        else:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(work)
            return backup
