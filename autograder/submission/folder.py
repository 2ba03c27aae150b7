"""A submission that is a folder: walked from the top down, links and special files left alone."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Literal

from autograder.submission.found import (
    LINK,
    SPECIAL,
    Caps,
    FileError,
    Found,
    Listing,
    SubmissionError,
    UnreadableError,
    printable,
    refused,
    shown,
    skipped,
    too_large,
)

Kind = Literal["folder", "file", "link", "other"]

_JUNCTION = 0xA0000003  # Windows: a folder that is a link, though it does not look like one
_OPEN = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
)


@contextmanager
def open_folder(path: Path, caps: Caps) -> Iterator[Listing]:
    """Yield what lies in a folder and below it. Raises `SubmissionError` where the folder itself cannot be listed."""
    listing = Listing()
    level = [PurePosixPath()]
    left = caps.entries
    for _ in range(caps.depth):
        below: list[PurePosixPath] = []
        for folder in level:
            entries = _entries(path, folder, left, listing)
            left -= len(entries)
            for entry in entries:
                _sort_out(entry, folder / entry.name, listing, below)
        level = below if left > 0 else []
    if left <= 0:
        listing.leave(f"there are {caps.entries:,} files and folders or more; the rest was not looked at")
    elif level:
        listing.leave(f"{shown(level[0])} lies more than {caps.depth} folders deep; it was not looked at: move it up")
    yield listing


def open_plain(path: Path) -> int:
    """Open a plain file for reading and return its descriptor; raise `FileError` for a link or anything else.

    It does not wait for the other end of a pipe, and a link put there a moment ago is not followed.
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
    """Return the bytes of a plain file; raise `FileError` where it is none, or has more than `limit`."""
    with os.fdopen(open_plain(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise too_large(size, limit)
        try:
            source = file.read(limit + 1)
        except OSError as error:
            raise UnreadableError(f"cannot be read ({reason(error)})") from None
    if len(source) > limit:
        raise too_large(len(source), limit)
    return source


def kind_of(path: Path) -> Kind:
    """Say what a path is, without following it; raise `FileError` where that cannot be told."""
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
    """Return what the system says is wrong, without the path."""
    return str(getattr(error, "strerror", None) or error)


def _entries(top: Path, folder: PurePosixPath, left: int, listing: Listing) -> list[os.DirEntry[str]]:
    """Return at most `left` entries of a folder, by name."""
    try:
        if kind_of(top / folder) != "folder":
            raise FileError("is no folder any more")
        with os.scandir(top / folder) as entries:
            return sorted(islice(entries, left), key=lambda entry: entry.name)
    except OSError as error:
        told = f"cannot be read ({reason(error)})"
    except FileError as error:
        told = str(error)
    if not folder.parts:
        raise SubmissionError(f"{printable(top)} {told}; expected a folder of .py files: check its permissions")
    listing.leave(f"{shown(folder)} {told}; it was not looked at")
    return []


def _sort_out(entry: os.DirEntry[str], path: PurePosixPath, listing: Listing, below: list[PurePosixPath]) -> None:
    """Put an entry where it belongs: among the files, among the folders to walk, or in a sentence."""
    try:
        kind = _kind(entry.stat(follow_symlinks=False))
    except OSError as error:
        listing.files.append(refused(path, f"cannot be read ({reason(error)}); check its permissions"))
        return
    if kind == "folder" and not skipped(entry.name):
        below.append(path)
    elif kind == "file":
        listing.files.append(Found(path, partial(read_plain, Path(entry.path))))
    elif kind == "link":
        listing.files.append(refused(path, LINK))
    elif kind == "other":
        listing.files.append(refused(path, SPECIAL))
