"""One student's work where it lies, not yet read."""

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
from autograder.submission.folder import kind_of, read_plain
from autograder.submission.found import LINK, Caps, FileError, Found, Listing, SubmissionError, printable, skipped
from autograder.submission.submission import NOTHING_GIVEN, Given, Submission, read_listing, reader_of

_CAPS = Caps()


@dataclass(frozen=True)
class Part:
    """Where some of a submission lies: a folder, a zip or a file; or `files`, found already in a zip of many.

    A single file has the `name` that its student gave it; of two of one name, that of the higher `rank` is the later.
    """

    path: Path
    files: tuple[Found, ...] | None = None
    name: str | None = None
    rank: int = 0


@dataclass(frozen=True)
class Entry:
    """What one student handed in last: whose it is, where it lies, and when it was handed in (UTC) if that is known.

    `student` names the report. `notes` are sentences about how it was chosen.
    """

    student: str
    path: Path
    handed_in: datetime | None = None
    notes: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    given: Given = NOTHING_GIVEN

    def read(self, files: Sequence[str], caps: Caps) -> Submission:
        """Return the submission; what cannot be read at all is one without files and with a note that says why."""
        listing = Listing()
        with ExitStack() as stack:
            for part in self.parts or (Part(self.path),):
                try:
                    found = _listed(part, caps, stack)
                except SubmissionError as error:  # a report says nothing of where it was made
                    listing.leave(str(error).replace(printable(part.path), printable(part.path.name)))
                else:
                    listing.add(found)
            read = read_listing(self.student, listing, files, caps, self.given)
        return replace(read, notes=(*self.notes, *read.notes))

    def stamp(self) -> str:
        """Return the digest of names, sizes and times of all that is read: where it is equal, nothing has changed.

        It opens no file, follows no link, and looks at no more files and folders than are read.
        """
        state = hashlib.sha256(repr((self.student, self.handed_in, self.notes)).encode("utf-8", "surrogatepass"))
        state.update(self.given.digest.encode())
        for part in self.parts or (Part(self.path),):
            inside = [(str(each.path), each.rank, each.label) for each in part.files or ()]
            state.update(repr((str(part.path), part.name, part.rank, inside)).encode("utf-8", "surrogatepass"))
            for line in islice(_stamps(part.path), _CAPS.entries):
                state.update(repr(line).encode("utf-8", "surrogatepass"))
        return state.hexdigest()


def _listed(part: Part, caps: Caps, stack: ExitStack) -> Listing:
    """Return what is found in a part, readable until the stack is closed. Raises `SubmissionError`."""
    if part.files is not None:
        listing = Listing(list(part.files[: caps.entries]))
        if len(part.files) > caps.entries:
            there = f"there are {len(part.files):,} entries, more than {caps.entries:,}"
            listing.leave(f"{there}; the rest was not looked at")
        return listing
    if part.name is not None:
        label = part.path.name if part.path.name != part.name else ""
        file = Found(PurePosixPath(part.name), partial(read_plain, part.path), part.rank, label)
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
        raise SubmissionError(f"{printable(part.path)} is no folder and no zip any more")
    return stack.enter_context(reader(part.path, caps))


def _stamps(path: Path) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield name, mode, size and times (ns) of a file, or of what is in a folder and below, hidden folders left out."""
    yield _stamp(".", path.lstat)
    level = [(str(path), "")]
    for _ in range(_CAPS.depth + 1):
        below: list[tuple[str, str]] = []
        for folder, inside in level:
            try:
                if kind_of(Path(folder)) != "folder":
                    continue
                with os.scandir(folder) as entries:
                    each_one = sorted(islice(entries, _CAPS.entries), key=lambda entry: entry.name)
            except (FileError, OSError):
                continue
            for entry in each_one:
                yield _stamp(inside + entry.name, partial(entry.stat, follow_symlinks=False))
                if entry.is_dir(follow_symlinks=False) and not skipped(entry.name):
                    below.append((entry.path, f"{inside}{entry.name}/"))
        level = below


def _stamp(name: str, looked_at: Callable[[], os.stat_result]) -> tuple[str, int, int, int, int]:
    try:
        status = looked_at()
    except (OSError, ValueError):
        return (name, -1, -1, -1, -1)
    return (
        name,
        status.st_mode,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,  # a download unpacked again may have the sizes and times of writing it had
    )
