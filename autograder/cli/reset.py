"""`course reset`: put the stub of an exercise back, with a copy kept of what was there."""

import argparse
import sys
import time
from pathlib import Path

from autograder.cli.screen import Screen, confirmed
from autograder.course import Course, Exercise, find_course, read_course
from autograder.course.handed_out import STUBS
from autograder.course.names import UsageError, resolve_exercise
from autograder.course.storage import own_folder
from autograder.exits import FAIL, PASS
from autograder.learner.progress import keep, write_whole
from autograder.learner.progress.events import Event, now
from autograder.learner.progress.last import forget_last
from autograder.submission import own


def reset(options: argparse.Namespace) -> int:
    """Run the command. What was written is never lost: it is copied before anything is put in its place."""
    course = read_course(find_course())
    exercise = resolve_exercise(course, options.exercise)
    stub = stub_text(course, exercise)
    file = course.exercises_dir / exercise.file
    written = _written(file)
    shown = f"{course.exercises_dir.name}/{exercise.file}"
    screen = Screen.of(options)
    if written is not None and written == stub.encode():
        screen.text(f"{shown} is the stub already: there is nothing to put back.", indent=0)
        return PASS
    if written is not None and not options.yes:
        screen.text(f"{shown} becomes the stub again; a copy of what you wrote is kept.", indent=0)
        if not confirmed(f"Reset {exercise.number} {exercise.title}?"):
            print("Nothing was changed.")
            return FAIL
    if written is not None:
        backup = _backup(course, exercise, written)
        screen.text(f"What you wrote is kept in {backup.relative_to(course.root).as_posix()}", indent=0)
    course.exercises_dir.mkdir(exist_ok=True)
    write_whole(file, stub)
    kept = keep(course, [Event(now(), "reset", exercise.id, "reset")])
    if kept.problem:
        print(f"course: your progress could not be kept: {kept.problem.strerror}", file=sys.stderr)
    forget_last(course, exercise)
    screen.text(f"{shown} is the stub again.", indent=0)
    screen.next([(f"edit {shown}", f"then course check {exercise.number}")])
    return PASS


def stub_text(course: Course, exercise: Exercise) -> str:
    """Return the stub of an exercise, or say that this kit has none."""
    from autograder.course.stubs import StubError

    try:
        stub = own.stub_text(course, exercise)
    except StubError as error:
        raise UsageError(str(error)) from error
    if stub is None:
        raise UsageError(
            f"the stub of {exercise.id} is not part of this kit: looked for {exercise.file} in solutions "
            f"and {STUBS}; take it from where you have the course, nothing was changed"
        )
    return stub


def _written(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _backup(course: Course, exercise: Exercise, written: bytes) -> Path:
    """Keep what was written under the date, beside earlier copies. Raises OSError where it cannot be kept."""
    folder = own_folder(course.root, "backups")
    stem = f"{exercise.id}-{time.strftime('%Y-%m-%dT%H%M')}"
    number = 1
    while True:
        backup = folder / (f"{stem}.py" if number == 1 else f"{stem}-{number}.py")
        try:
            with backup.open("xb") as stream:
                stream.write(written)
        except FileExistsError:
            number += 1
        else:
            return backup
