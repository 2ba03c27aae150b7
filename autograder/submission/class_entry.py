"""The submission of one student in a class, located but not yet read."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

from autograder.submission.archive import moved_into, open_archive
from autograder.submission.files import (
    LINK,
    Caps,
    FileError,
    Listing,
    SubmissionError,
    SubmittedFile,
    is_skipped,
    named_with_size,
    printable,
    too_many_entries,
)
from autograder.submission.folder import kind_of, read_plain
from autograder.submission.submission import NO_HANDOUT, Handout, Submission, read_listing, reader_of

_CAPS = Caps()


@dataclass(frozen=True)
class Part:
    """A folder, zip or file with a part of a submission; or `files` that were already found in the zip of a class.

    A single file has the `name` that its student gave it. Of two files with one name, the higher `rank` is later.
    """

    path: Path
    files: tuple[SubmittedFile, ...] | None = None
    name: str | None = None
    rank: int = 0


@dataclass(frozen=True)
class Entry:
    """The submission of one student that counts: its location, and when it was handed in (UTC) if that is known.

    `student` names the report. `notes` are sentences about how the submission was chosen. `accepted` are single files
    that take the place of those with their names, also of a notebook in the place of a module; `decisions` say who
    accepted what, and why.
    """

    student: str
    path: Path
    handed_in: datetime | None = None
    notes: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    handout: Handout = NO_HANDOUT
    accepted: tuple[Part, ...] = ()
    decisions: tuple[str, ...] = ()

    def read(self, files: Sequence[str], caps: Caps) -> Submission:
        """Return the submission. If it cannot be read at all, it has no files, and a note that says why."""
        listing = Listing()
        with ExitStack() as stack:
            for part in self.parts or (Part(self.path),):
                try:
                    listing.add(_list_part(part, caps, stack))
                except SubmissionError as error:  # a report must not contain paths of the grader's machine
                    listing.skip(str(error).replace(printable(part.path), printable(part.path.name)))
                    listing.closed.append(named_with_size(part.name or part.path.name, _size(part.path)))
            for part in self.accepted:
                listing.replace(part.name or "", _list_part(part, caps, stack))
            submission = read_listing(self.student, listing, files, caps, self.handout)
        settled = {f"{PurePosixPath(part.name or '').stem}.py" for part in self.accepted}
        doubts = {file: why for file, why in submission.doubts.items() if file not in settled}
        gone = {*submission.doubts.values()} - {*doubts.values()}
        left = tuple(note for note in submission.notes if note not in gone)
        return replace(submission, notes=(*self.decisions, *self.notes, *left), doubts=doubts)

    def stamp(self) -> str:
        """Return a digest of names, sizes and times of everything to read: if it is equal, nothing has changed.

        It opens no file, follows no link, and visits no more files and folders than reading does.
        """
        state = hashlib.sha256(
            repr((self.student, self.handed_in, self.notes, self.decisions)).encode("utf-8", "surrogatepass")
        )
        state.update(self.handout.digest.encode())
        for part in (*(self.parts or (Part(self.path),)), *self.accepted):
            inside = [(str(file.path), file.rank, file.label) for file in part.files or ()]
            state.update(repr((str(part.path), part.name, part.rank, inside)).encode("utf-8", "surrogatepass"))
            for line in islice(_stamps(part.path), _CAPS.entries):
                state.update(repr(line).encode("utf-8", "surrogatepass"))
        return state.hexdigest()


def _list_part(part: Part, caps: Caps, stack: ExitStack) -> Listing:
    """Return the files of a part, readable until the stack is closed. Raises `SubmissionError`."""
    if part.files is not None:
        listing = Listing(list(part.files[: caps.entries]))
        if len(part.files) > caps.entries:
            listing.skip(too_many_entries(len(part.files), caps))
        return listing
    if part.name is not None:
        label = part.path.name if part.path.name != part.name else ""
        read = partial(read_plain, part.path)
        file = SubmittedFile(PurePosixPath(part.name), read, part.rank, label, size=_size(part.path))
        if file.path.suffix.lower() != ".zip":
            return Listing([file])
        inside = stack.enter_context(open_archive(part.path, caps))
        inside.files = moved_into(file, inside.files)
        return inside
    try:
        kind = kind_of(part.path)
    except FileError as error:
        raise SubmissionError(f"{printable(part.path)} {error}; check the path") from None
    if kind == "link":
        raise SubmissionError(f"{printable(part.path)} {LINK}")
    reader = reader_of(part.path, kind)
    if reader is None:
        raise SubmissionError(f"{printable(part.path)} is no longer a folder or a zip; check the path")
    return stack.enter_context(reader(part.path, caps))


def _size(path: Path) -> int | None:
    """Return the size of a plain file; None for anything else."""
    try:
        return path.lstat().st_size if kind_of(path) == "file" else None
    except (FileError, OSError):
        return None


def _stamps(path: Path) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield name, mode, size and times (ns) of a file, or of everything below a folder except hidden folders."""
    yield _stamp(".", path.lstat)
    level = [(str(path), "")]
    for _ in range(_CAPS.depth + 1):
        below: list[tuple[str, str]] = []
        for folder, inside in level:
            try:
                if kind_of(Path(folder)) != "folder":
                    continue
                with os.scandir(folder) as entries:
                    in_order = sorted(islice(entries, _CAPS.entries), key=lambda entry: entry.name)
            except (FileError, OSError):
                continue
            for entry in in_order:
                yield _stamp(inside + entry.name, partial(entry.stat, follow_symlinks=False))
                if entry.is_dir(follow_symlinks=False) and not is_skipped(entry.name):
                    below.append((entry.path, f"{inside}{entry.name}/"))
        level = below


def _stamp(name: str, stat: Callable[[], os.stat_result]) -> tuple[str, int, int, int, int]:
    try:
        status = stat()
    except (OSError, ValueError):
        return (name, -1, -1, -1, -1)
    return (
        name,
        status.st_mode,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,  # a download unpacked again may have the same sizes and modification times
    )
