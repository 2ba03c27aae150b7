"""Put the stub of an exercise back, and keep a copy of your file.

It asks you to confirm. The copy goes to .course/backups.
"""

import argparse
import io
import os
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

from autograder.cli import CommandParser, Screen, confirmed, say, warn
from autograder.course import (
    STUBS,
    Course,
    Exercise,
    StubError,
    UsageError,
    find_course,
    make_folder,
    open_plain,
    read_course,
    read_plain,
    resolve_exercise,
    state_folder,
    stub_text,
    write_atomically,
)
from autograder.ending import FAIL, PASS
from autograder.progress import Event, delete_last, edit_command, now, save_events
from autograder.submission import Caps, Handout, Notebook, Submission, handout_of, notebook_of, read_submission


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("exercise", metavar="EX", help=parser.exercise)
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(options: argparse.Namespace) -> int:
    """Run the command. It asks first, and copies your file before it replaces it."""
    course = read_course(find_course())
    exercise = resolve_exercise(course, options.exercise)
    stub = read_stub(course, exercise)
    work = read_work(course, exercise)
    file = f"{course.exercises_dir.name}/{exercise.file}"
    screen = Screen.of(options)
    if work == stub:
        screen.text(f"{file} is the stub already: there is nothing to reset.", indent=0)
        return PASS
    if work is not None and not options.yes:
        screen.text(f"{file} becomes the stub again. A copy of your file is kept.", indent=0)
        if not confirmed(f"Reset {exercise.number} {exercise.title}?"):
            say("Nothing was changed.")
            return FAIL
    done = reset_exercise(course, exercise, stub, work)
    warn(done.warning)
    if done.backup is not None:
        screen.text(f"A copy of your file is in {done.backup.relative_to(course.root).as_posix()}", indent=0)
    screen.text(f"{file} is the stub again.", indent=0)
    screen.next([edit_command(course, exercise, f"then course check {exercise.number}")])
    return PASS


@dataclass(frozen=True)
class Reset:
    """What a reset did: the copy of the old file, if there was one, and a warning or ""."""

    backup: Path | None
    warning: str


def read_stub(course: Course, exercise: Exercise) -> bytes:
    """Return the stub of an exercise. Raises `UsageError` if this kit has none."""

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


# Pack a learner's work into the one zip to hand in.

ZIP = "submission.zip"
BEGINNING = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the zip, so that the same work gives the same bytes."""


@dataclass(frozen=True)
class SubmissionZip:
    """The submission as a zip: the files with work, those that are still the stub, and the size in bytes.

    `file` is where the zip belongs; it is written only if some file was started.
    """

    submission: Submission
    started: list[str]
    untouched: list[str]
    file: Path
    size: int

    @property
    def absent(self) -> list[str]:
        """The files that do not exist."""
        return [name for name in self.submission.missing if name not in self.submission.unread]

    def to_json(self) -> dict[str, object]:
        return {
            "zip": str(self.file) if self.started else None,
            "bytes": self.size if self.started else 0,
            "digest": self.submission.digest,
            "files": self.started,
            "not_started": self.untouched,
            "missing": list(self.submission.missing),
            "notes": list(self.submission.notes),
        }


def pack_work(course: Course, file: Path | None) -> SubmissionZip:
    """Write the zip if the learner has started an exercise, and return its contents. Raises `UsageError`."""
    handout = handout_of(course)
    submission = read_submission(course.exercises_dir, course.files, Caps(source_kib=course.limits.source_kib), handout)
    untouched = [name for name in submission.sources if _is_untouched(name, submission, handout)]
    started = [name for name in submission.sources if name not in untouched]
    data = zip_bytes(submission)
    packed = SubmissionZip(submission, started, untouched, file if file is not None else course.root / ZIP, len(data))
    if started:
        _write(packed.file, data)
    return packed


def zip_bytes(submission: Submission) -> bytes:
    """Return the sources of a submission as a zip: the same bytes for the same sources."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, source in sorted(submission.sources.items()):
            entry = zipfile.ZipInfo(name, BEGINNING)
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            archive.writestr(entry, source)  # stored: it is small, and versions of zlib compress differently
    return stream.getvalue()


def _is_untouched(name: str, submission: Submission, handout: Handout) -> bool:
    """Return whether a source is what was handed out: the stub, or the code of the notebook."""
    source = submission.sources[name]
    if name not in submission.cells:
        return handout.is_stub(name, source)
    return handout.is_notebook(notebook_of(name), Notebook(source, submission.cells[name], ()), len(source))


def _write(file: Path, data: bytes) -> None:
    if file.is_dir():
        raise UsageError(f"{file} is a folder, expected the name of the zip to write, like {file / ZIP}")
    if not file.parent.is_dir():
        raise UsageError(f"{file.parent} does not exist; make it, or give another --out")
    write_atomically(file, data)
