"""`course submit`: what is to be handed in, in one zip, and a word on what that is."""

import argparse
import io
import os
import zipfile
from pathlib import Path

from autograder import ending
from autograder.authoring.given import given_of
from autograder.cli.screen import Screen
from autograder.cli.written import write_json
from autograder.course import Course, find_course, read_course
from autograder.course.names import UsageError
from autograder.course.storage import part_of
from autograder.exits import FAIL, PASS
from autograder.submission import Caps, Given, Submission, read_submission
from autograder.submission.notebook import Notebook
from autograder.submission.submission import notebook_of

ZIP = "submission.zip"
BEGINNING = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the zip, so that the same work gives the same bytes."""


def submit(options: argparse.Namespace) -> int:
    """Run the command: 0 where there is something to hand in, 1 where nothing has been begun."""
    course = read_course(find_course())
    given = given_of(course)
    submission = read_submission(course.exercises_dir, course.files, Caps(source_kib=course.limits.source_kib), given)
    untouched = [name for name in submission.sources if _is_untouched(name, submission, given)]
    begun = [name for name in submission.sources if name not in untouched]
    out = options.out if options.out is not None else course.root / ZIP
    packed = packed_zip(submission)
    if begun:
        _write(out, packed)
    if not write_json(options, _facts(submission, begun, untouched, out if begun else None, len(packed))):
        _show(Screen.of(options), course, submission, begun, untouched, out, len(packed))
    return PASS if begun else FAIL


def packed_zip(submission: Submission) -> bytes:
    """Return the sources of a submission as a zip: the same bytes for the same sources."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, source in sorted(submission.sources.items()):
            entry = zipfile.ZipInfo(name, BEGINNING)
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            archive.writestr(entry, source)  # stored: small enough, and no zlib packs otherwise
    return stream.getvalue()


def _is_untouched(name: str, submission: Submission, given: Given) -> bool:
    """Say whether a source is what was handed out: the stub, or the code of the notebook."""
    source = submission.sources[name]
    if name not in submission.cells:
        return given.is_stub(name, source)
    return given.is_notebook(notebook_of(name), Notebook(source, submission.cells[name], ()), len(source))


def _write(out: Path, packed: bytes) -> None:
    if out.is_dir():
        raise UsageError(f"{out} is a folder, expected the name of the zip to write, like {out / ZIP}")
    if not out.parent.is_dir():
        raise UsageError(f"{out.parent} does not exist; make it, or give another --out")
    with ending.temporary(lambda: part_of(out)) as part:
        part.write_bytes(packed)
        part.chmod(0o644)
        part.replace(out)


def _facts(
    submission: Submission, begun: list[str], untouched: list[str], out: Path | None, size: int
) -> dict[str, object]:
    return {
        "zip": str(out) if out else None,
        "bytes": size if out else 0,
        "digest": submission.digest,
        "files": begun,
        "not_started": untouched,
        "missing": list(submission.missing),
        "notes": list(submission.notes),
    }


def _show(
    screen: Screen, course: Course, submission: Submission, begun: list[str], untouched: list[str], out: Path, size: int
) -> None:
    if not begun:
        which = "every file that can be read" if submission.unread else "every file there"
        screen.text(f"Nothing was packed: {which} is the stub still.", indent=0)
        for sentence in submission.unread.values():
            screen.text(sentence)
        screen.next([("course", "where to begin")])
        return
    screen.text(f"{os.path.relpath(out)}: {len(submission.sources)} files, {size:,} bytes", indent=0, style="bold")
    for name in begun:
        screen.text(f"{name}  {len(submission.sources[name].splitlines())} lines")
    if untouched:
        screen.text(f"the stub still, worth nothing yet: {', '.join(untouched)}")
    if absent := [name for name in submission.missing if name not in submission.unread]:
        screen.text(f"not there, and not packed: {', '.join(absent)}")
    for note in submission.notes:
        screen.text(note)
    screen.text(f"digest {submission.digest}: the report on it names the same", indent=0)
    screen.text(f"Hand in {out.name} where {course.title} is collected.", indent=0)
