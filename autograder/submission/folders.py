"""Read folders and zips, and the zips in them: entry by entry, nothing is unpacked to disk, and no link is followed."""

import os
import re
import stat
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from io import BufferedReader, BytesIO, FileIO, RawIOBase
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Literal, cast

from .contents import (
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
    too_many_entries,
)

# List a submission that is a folder, from the top down, without links and special files.

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


_CONTENTS_BYTES = 256  # bytes of the table of contents per entry; an honest entry needs about 100
_ENCRYPTED = 0x1 | 0x40
_PIECE = 1 << 16
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # zipfile unpacks the others at once, whatever their size
_AGAIN = "pack the folder again, as a plain zip"


@contextmanager
def open_archive(path: Path, caps: Caps) -> Iterator[Listing]:
    """Yield the files of a zip, readable until the block ends. Raises `SubmissionError` if the zip is broken."""
    file = open_for_reading(path, caps)
    with file:
        yield list_archive(path, file, caps)


def open_for_reading(path: Path, caps: Caps) -> "ShortReads":
    """Open a zip; raise `SubmissionError` if it is not a plain file, or may not be read."""
    try:
        return ShortReads(FileIO(open_plain(path)), caps)
    except FileError as error:
        raise SubmissionError(
            f"{printable(path)} {error}; expected a zip that can be read: check its permissions"
        ) from None


def list_archive(path: Path, file: "ShortReads", caps: Caps) -> Listing:
    """Return the files of an open zip, readable as long as it is open. Raises `SubmissionError` if it is broken.

    Its bytes are hostile, so any exception of zipfile means that it is broken.
    """
    try:
        return _listing(zipfile.ZipFile(file), caps)
    except UnicodeDecodeError:
        raise SubmissionError(f"{printable(path)} declares a file name as UTF-8 that is not UTF-8; {_AGAIN}") from None
    except Exception as error:
        problem = f"{printable(path)} is not a zip, or is incomplete ({_reason(error)})"
        raise SubmissionError(f"{problem}, expected a zip of .py files; {_AGAIN}") from None


class ShortReads(BufferedReader):
    """A file that refuses to read more at once than an honest table of contents needs: zipfile reads that whole."""

    def __init__(self, raw: RawIOBase, caps: Caps) -> None:
        super().__init__(raw)
        self._longest = max(caps.entries * _CONTENTS_BYTES, 1 << 18)

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = self._longest if size is None or size < 0 else size
        if wanted > self._longest:
            raise ValueError("its table of contents is too long")
        return super().read(wanted)


def with_inner_zips(listing: Listing, caps: Caps) -> Listing:
    """Return a listing with the files of the zips in it, as if each zip were a folder of its name; read in memory.

    There may be `inner_zips` of them, of `inner_kib` together, nested `inner_depth` deep. A note names each that was
    not opened.
    """
    whole = Listing()
    whole.add(listing)
    count, left, level = caps.inner_zips, caps.inner_kib * 1024, listing.files
    for depth in range(caps.inner_depth + 1):
        zips = [file for file in level if file.path.suffix.lower() == ".zip" and not file.is_aside]
        level = []
        for outer in zips:
            if outer.refused:
                whole.unseen.append(f"{outer.display_name} {outer.refused}")
                continue
            if depth == caps.inner_depth or not count:
                most = f"at most {caps.inner_zips} zips inside a submission are opened, {caps.inner_depth} deep"
                whole.skip(f"{outer.display_name} was not opened: {most}; unpack it")
                continue
            count -= 1
            try:
                packed = outer.read(left)
                file = ShortReads(cast("RawIOBase", BytesIO(packed)), caps)
                inner = list_archive(Path(outer.display_name), file, caps)
            except (FileError, SubmissionError) as error:
                whole.skip(f"{outer.display_name} {error}" if isinstance(error, FileError) else str(error))
                continue
            left -= len(packed)
            inner.files = moved_into(outer, inner.files)
            level += inner.files
            whole.add(inner, f"in {outer.display_name}: ")
    return whole


def moved_into(outer: SubmittedFile, files: Sequence[SubmittedFile]) -> list[SubmittedFile]:
    """Return the files of a zip as if they were in a folder of its name, with the zip's rank."""
    folder = outer.path.with_suffix("")
    return [
        replace(file, path=folder / file.path, rank=outer.rank, label=f"{outer.label or outer.path}/{file.path}")
        for file in files
    ]


def _listing(archive: zipfile.ZipFile, caps: Caps) -> Listing:
    listing = Listing()
    entries = archive.infolist()
    files: dict[PurePosixPath, SubmittedFile] = {}
    for entry in islice(entries, caps.entries):
        try:
            path = _path(entry, caps)
        except FileError as error:
            name = PurePosixPath(entry.filename.replace("\\", "/"))
            listing.files.append(refused_file(name, str(error), entry.filename))
            continue
        if path in files:
            listing.notes.append(f"{printable_name(path)} is in the zip more than once; the last one counts")
        if path:
            files[path] = SubmittedFile(path, partial(_read, archive, entry), size=entry.file_size)
    if len(entries) > caps.entries:
        listing.skip(too_many_entries(len(entries), caps))
    listing.files.extend(files.values())
    return listing


def _path(entry: zipfile.ZipInfo, caps: Caps) -> PurePosixPath | None:
    """Return the path of a plain file, None for entries to ignore; raise `FileError` for entries to refuse."""
    name = entry.filename.replace("\\", "/")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or re.match("[A-Za-z]:", name):
        raise FileError("has an absolute path, so it was not read; pack it with a relative path")
    if ".." in parts:
        raise FileError("has a path that leads out of the zip, so it was not read; pack it without `..`")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise FileError(LINK)
    if name.endswith("/") or kind == stat.S_IFDIR or not parts or any(map(_is_closed, parts[:-1])):
        return None
    if kind not in (0, stat.S_IFREG):
        raise FileError(SPECIAL)
    if len(parts) > caps.depth:
        raise FileError(f"is more than {caps.depth} folders deep, so it was not read; move it up")
    return PurePosixPath(*parts)


def _is_closed(folder: str) -> bool:
    return is_skipped(folder) and not may_hold_backups(folder)


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limit: int) -> bytes:
    """Unpack one entry in memory, never more than `limit` bytes."""
    size = max(entry.file_size, entry.compress_size // 2)
    if size > limit:
        raise too_large_error(size, limit)
    if entry.flag_bits & _ENCRYPTED:
        raise FileError("is encrypted; pack it without a password")
    if entry.compress_type not in _METHODS:
        raise FileError("uses an unsupported compression; pack it as a plain zip (deflate)")
    try:
        with archive.open(entry) as file:
            pieces = iter(lambda: file.read(_PIECE), b"")  # no read is longer than the file allows
            source = b"".join(islice(pieces, limit // _PIECE + 1))
    except Exception as error:  # hostile bytes: whatever zipfile raises, this entry is broken
        raise FileError(f"is broken ({_reason(error)}); pack it again") from None
    if len(source) != entry.file_size:
        raise FileError(f"is broken (it has {len(source):,} bytes, expected {entry.file_size:,}); pack it again")
    return source


def _reason(error: Exception) -> str:
    return printable_name(str(error) or type(error).__name__)
