"""A zip, read where it lies, entry by entry, and never unpacked to disk; and the zips inside it, in memory."""

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
from typing import cast

from autograder.submission.folder import open_plain
from autograder.submission.found import (
    LINK,
    SPECIAL,
    Caps,
    FileError,
    Found,
    Listing,
    SubmissionError,
    printable,
    refused,
    shown,
    skipped,
    too_large,
)

_CONTENTS_BYTES = 256  # of the table of contents, for each entry
_ENCRYPTED = 0x1 | 0x40
_PIECE = 1 << 16
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # zipfile unpacks the others whole, however large they get
_AGAIN = "pack the folder again, as a plain zip"


@contextmanager
def open_archive(path: Path, caps: Caps) -> Iterator[Listing]:
    """Yield what lies in a zip, readable until the block ends. Raises `SubmissionError` where it is no sound zip."""
    file = open_for_reading(path, caps)
    with file:
        yield list_archive(path, file, caps)


def open_for_reading(path: Path, caps: Caps) -> "ShortReads":
    """Open a zip; raise `SubmissionError` where it is no plain file, or may not be read."""
    try:
        return ShortReads(FileIO(open_plain(path)), caps)
    except FileError as error:
        raise SubmissionError(
            f"{printable(path)} {error}; expected a zip that can be read: check its permissions"
        ) from None


def list_archive(path: Path, file: "ShortReads", caps: Caps) -> Listing:
    """Return what lies in an open zip, readable as long as it is open; raise `SubmissionError` where it is not sound.

    A stranger wrote it, so any exception means that it is broken.
    """
    try:
        return _listing(zipfile.ZipFile(file), caps)
    except UnicodeDecodeError:
        raise SubmissionError(
            f"{printable(path)} has a file name that is not the UTF-8 it claims to be; {_AGAIN}"
        ) from None
    except Exception as error:
        told = f"{printable(path)} is no zip, or was cut short ({_told(error)})"
        raise SubmissionError(f"{told}, expected a zip of .py files; {_AGAIN}") from None


class ShortReads(BufferedReader):
    """A file that refuses to read more at once than an honest table of contents has."""

    def __init__(self, raw: RawIOBase, caps: Caps) -> None:
        super().__init__(raw)
        self._longest = max(caps.entries * _CONTENTS_BYTES, 1 << 18)

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = self._longest if size is None or size < 0 else size
        if wanted > self._longest:
            raise ValueError("its table of contents is too long")
        return super().read(wanted)


def with_inner_zips(listing: Listing, caps: Caps) -> Listing:
    """Return a listing with what lies in its zips, as if each were a folder of its name; they are read into memory.

    There may be `inner_zips` of them, of `inner_kib` together, `inner_depth` inside one another; a sentence says
    which were left alone.
    """
    found = Listing()
    found.add(listing)
    count, left, level = caps.inner_zips, caps.inner_kib * 1024, listing.files
    for depth in range(caps.inner_depth + 1):
        zips = [each for each in level if each.path.suffix.lower() == ".zip"]
        level = []
        for each in zips:
            if each.refused:
                found.unseen.append(f"{each.told} {each.refused}")
                continue
            if depth == caps.inner_depth or not count:
                what = f"at most {caps.inner_zips} zips are looked into, {caps.inner_depth} deep"
                found.leave(f"{each.told} is one zip too many inside this one; it was not looked into: {what}")
                continue
            count -= 1
            try:
                packed = each.read(left)
                inner = list_archive(Path(each.told), ShortReads(cast("RawIOBase", BytesIO(packed)), caps), caps)
            except (FileError, SubmissionError) as error:
                found.leave(f"{each.told} {error}" if isinstance(error, FileError) else str(error))
                continue
            left -= len(packed)
            inner.files = moved_into(each, inner.files)
            level += inner.files
            found.add(inner, f"in {each.told}: ")
    return found


def moved_into(outer: Found, files: Sequence[Found]) -> list[Found]:
    """Return the files of a zip as if they lay in a folder of its name, handed in when it was."""
    folder = outer.path.with_suffix("")
    return [
        replace(each, path=folder / each.path, rank=outer.rank, label=f"{outer.label or outer.path}/{each.path}")
        for each in files
    ]


def _listing(archive: zipfile.ZipFile, caps: Caps) -> Listing:
    listing = Listing()
    entries = archive.infolist()
    files: dict[PurePosixPath, Found] = {}
    for entry in islice(entries, caps.entries):
        try:
            path = _path(entry, caps)
        except FileError as error:
            listing.files.append(_refused(entry, str(error)))
            continue
        if path in files:
            listing.notes.append(f"{shown(path)} is in the zip more than once; the last one counts")
        if path:
            files[path] = Found(path, partial(_read, archive, entry))
    if len(entries) > caps.entries:
        listing.leave(f"there are {len(entries):,} entries, more than {caps.entries:,}; the rest was not looked at")
    listing.files.extend(files.values())
    return listing


def _refused(entry: zipfile.ZipInfo, why: str) -> Found:
    return refused(PurePosixPath(entry.filename.replace("\\", "/")), why, entry.filename)


def _path(entry: zipfile.ZipInfo, caps: Caps) -> PurePosixPath | None:
    """Return where a plain file lies, None for what needs no word, or raise `FileError` for what is refused."""
    name = entry.filename.replace("\\", "/")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or re.match("[A-Za-z]:", name):
        raise FileError("is an absolute name; it was not read")
    if ".." in parts:
        raise FileError("leads out of the zip; it was not read")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise FileError(LINK)
    if name.endswith("/") or kind == stat.S_IFDIR or not parts or any(map(skipped, parts[:-1])):
        return None
    if kind not in (0, stat.S_IFREG):
        raise FileError(SPECIAL)
    if len(parts) > caps.depth:
        raise FileError(f"lies more than {caps.depth} folders deep; it was not looked at: move it up")
    return PurePosixPath(*parts)


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limit: int) -> bytes:
    """Unpack one entry in memory, never more than `limit` bytes."""
    size = max(entry.file_size, entry.compress_size // 2)
    if size > limit:
        raise too_large(size, limit)
    if entry.flag_bits & _ENCRYPTED:
        raise FileError("is encrypted; pack it without a password")
    if entry.compress_type not in _METHODS:
        raise FileError("is compressed in a way that is not read here; pack it as a plain zip (deflate)")
    try:
        with archive.open(entry) as file:
            pieces = iter(lambda: file.read(_PIECE), b"")  # no read is longer than the file allows
            source = b"".join(islice(pieces, limit // _PIECE + 1))
    except Exception as error:  # a stranger wrote it: whatever goes wrong, this entry is broken
        raise FileError(f"is broken ({_told(error)}); pack it again") from None
    if len(source) != entry.file_size:
        raise FileError(f"is broken (it has {len(source):,} bytes and says {entry.file_size:,}); pack it again")
    return source


def _told(error: Exception) -> str:
    return shown(str(error) or type(error).__name__)
