"""List a submission that is a folder, from the top down, without links and special files."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Literal

from autograder.submission.files import (
    LINK,
    SPECIAL,
    Caps,
    FileError,
    Listing,
    SubmissionError,
    SubmittedFile,
    UnreadableError,
    is_skipped,
    may_hold_backups,
    printable,
    printable_name,
    refused_file,
    too_large_error,
)

Kind = Literal["folder", "file", "link", "other"]

_JUNCTION = 0xA0000003  # Windows: a folder that is a link, which lstat reports as a folder
_MOST_BACKUPS = 200
_OPEN = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
)


@contextmanager
def open_folder(path: Path, caps: Caps) -> Iterator[Listing]:
    """Yield the files in a folder and below it. Raises `SubmissionError` if the folder itself cannot be listed."""
    listing = Listing()
    level = [PurePosixPath()]
    left = caps.entries
    hidden: list[PurePosixPath] = []
    for _ in range(caps.depth):
        below: list[PurePosixPath] = []
        for folder in level:
            entries = _entries(path, folder, left, listing)
            left -= len(entries)
            for entry in entries:
                _classify(entry, folder / entry.name, listing, below, hidden)
        level = below if left > 0 else []
    if left <= 0:
        listing.skip(f"there are {caps.entries:,} files and folders or more; the rest was not read")
    elif level:
        listing.skip(
            f"{printable_name(level[0])} is more than {caps.depth} folders deep, so it was not read; move it up"
        )
    _list_backups(path, hidden, listing)
    yield listing


def _list_backups(top: Path, folders: list[PurePosixPath], listing: Listing) -> None:
    """Add the first files in hidden folders that may have copies of the work; whatever else is there costs nothing."""
    found, left = Listing(), _MOST_BACKUPS
    for folder in folders:  # which grows
        entries = _entries(top, folder, left, Listing())
        left -= len(entries)
        for entry in entries:
            _classify(entry, folder / entry.name, found, folders, [])
    listing.files += [file for file in found.files if not file.refused]


def open_plain(path: Path) -> int:
    """Open a plain file for reading and return its descriptor; raise `FileError` for a link or anything else.

    It never waits for the other end of a pipe (O_NONBLOCK), nor follows a link that appears after the check
    (O_NOFOLLOW).
    """
    if kind_of(path) == "link":
        raise FileError(LINK)
    try:
        descriptor = os.open(path, _OPEN)
    except OSError as error:
        raise UnreadableError(f"cannot be read ({reason(error)})") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileError(SPECIAL)
    return descriptor


def read_plain(path: Path, limit: int) -> bytes:
    """Return the bytes of a plain file; raise `FileError` if it is not one, or has more than `limit` bytes."""
    with os.fdopen(open_plain(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise too_large_error(size, limit)
        try:
            source = file.read(limit + 1)  # it may have grown since fstat
        except OSError as error:
            raise UnreadableError(f"cannot be read ({reason(error)})") from None
    if len(source) > limit:
        raise too_large_error(len(source), limit)
    return source


def kind_of(path: Path) -> Kind:
    """Return the kind of a path without following it; raise `FileError` if it cannot be read."""
    try:
        status = path.lstat()
    except (OSError, ValueError) as error:
        raise UnreadableError(f"cannot be read ({reason(error)})") from None
    return _kind(status)


def _kind(status: os.stat_result) -> Kind:
    if stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) == _JUNCTION:
        return "link"
    if stat.S_ISDIR(status.st_mode):
        return "folder"
    return "file" if stat.S_ISREG(status.st_mode) else "other"


def reason(error: Exception) -> str:
    """Return the system's reason for an error, without the path."""
    return str(getattr(error, "strerror", None) or error)


def _entries(top: Path, folder: PurePosixPath, left: int, listing: Listing) -> list[os.DirEntry[str]]:
    """Return at most `left` entries of a folder, sorted by name."""
    try:
        if kind_of(top / folder) != "folder":
            raise FileError("is no longer a folder")
        with os.scandir(top / folder) as entries:
            return sorted(islice(entries, left), key=lambda entry: entry.name)
    except OSError as error:
        problem = f"cannot be read ({reason(error)})"
    except FileError as error:
        problem = str(error)
    if not folder.parts:
        raise SubmissionError(f"{printable(top)} {problem}; expected a folder of .py files: check its permissions")
    listing.skip(f"{printable_name(folder)} {problem}, so its files were not read; check its permissions")
    return []


def _classify(
    entry: os.DirEntry[str],
    path: PurePosixPath,
    listing: Listing,
    below: list[PurePosixPath],
    hidden: list[PurePosixPath],
) -> None:
    """Add an entry to the files, to the folders to walk, to the hidden ones, or to the refused files."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        listing.files.append(refused_file(path, f"cannot be read ({reason(error)}); check its permissions"))
        return
    kind = _kind(status)
    if kind == "folder" and not is_skipped(entry.name):
        below.append(path)
    elif kind == "folder" and may_hold_backups(entry.name):
        hidden.append(path)
    elif kind == "file":
        listing.files.append(SubmittedFile(path, partial(read_plain, Path(entry.path)), size=status.st_size))
    elif kind == "link":
        listing.files.append(refused_file(path, LINK))
    elif kind == "other":
        listing.files.append(refused_file(path, SPECIAL))
