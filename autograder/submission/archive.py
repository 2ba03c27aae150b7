"""A submission that is a zip: read where it lies, entry by entry, and never unpacked to disk."""

import re
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader, FileIO
from itertools import islice
from pathlib import Path, PurePosixPath

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
    shown,
    skipped,
)

_CONTENTS_BYTES = 256  # of the table of contents, for each entry
_ENCRYPTED = 0x1 | 0x40
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # zipfile unpacks the others whole, however large they get


@contextmanager
def open_archive(path: Path, caps: Caps) -> Iterator[Listing]:
    """Yield what lies in a zip, readable until the block ends. Raises `SubmissionError` where it is no sound zip."""
    try:
        descriptor = open_plain(path)
    except FileError as error:
        raise SubmissionError(
            f"{printable(path)} {error}; expected a zip that can be read: check its permissions"
        ) from None
    longest = max(caps.entries * _CONTENTS_BYTES, caps.source_bytes + 1, 1 << 18)
    with _ShortReads(descriptor, longest) as file, _opened(path, file) as archive:
        yield _listing(archive, caps)


class _ShortReads(BufferedReader):
    """A file that refuses to read more at once than an honest table of contents has."""

    def __init__(self, descriptor: int, longest: int) -> None:
        super().__init__(FileIO(descriptor))
        self._longest = longest

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = self._longest if size is None or size < 0 else size
        if wanted > self._longest:
            raise ValueError("its table of contents is too long")
        return super().read(wanted)


def _opened(path: Path, file: BufferedReader) -> zipfile.ZipFile:
    """Return the zip, its table of contents read. A stranger wrote it, so any exception means that it is broken."""
    again = "pack the folder again, as a plain zip"
    try:
        return zipfile.ZipFile(file)
    except UnicodeDecodeError:
        raise SubmissionError(
            f"{printable(path)} has a file name that is not the UTF-8 it claims to be; {again}"
        ) from None
    except Exception as error:
        told = f"{printable(path)} is no zip, or was cut short ({_told(error)})"
        raise SubmissionError(f"{told}, expected a zip of .py files; {again}") from None


def _listing(archive: zipfile.ZipFile, caps: Caps) -> Listing:
    listing = Listing()
    entries = archive.infolist()
    files: dict[PurePosixPath, Found] = {}
    for entry in islice(entries, caps.entries):
        try:
            path = _path(entry, caps)
        except FileError as error:
            listing.notes.append(f"{shown(entry.filename)} {error}")
            continue
        if path in files:
            listing.notes.append(f"{shown(path)} is in the zip more than once; the last one counts")
        if path:
            files[path] = Found(path, partial(_read, archive, entry, caps))
    if len(entries) > caps.entries:
        listing.notes.append(f"there are more than {caps.entries:,} entries; the rest was not looked at")
    listing.files.extend(files.values())
    return listing


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
        raise FileError(f"lies more than {caps.depth} folders deep; it was not looked at")
    return PurePosixPath(*parts)


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, caps: Caps) -> bytes:
    """Unpack one entry in memory, never more than a file may have."""
    size = max(entry.file_size, entry.compress_size // 2)
    if size > caps.source_bytes:
        raise caps.too_large(size)
    if entry.flag_bits & _ENCRYPTED:
        raise FileError("is encrypted; pack it without a password")
    if entry.compress_type not in _METHODS:
        raise FileError("is compressed in a way that is not read here; pack it as a plain zip (deflate)")
    try:
        with archive.open(entry) as file:
            source = file.read(caps.source_bytes + 1)
    except Exception as error:  # a stranger wrote it: whatever goes wrong, this entry is broken
        raise FileError(f"is broken ({_told(error)}); pack it again") from None
    if len(source) != entry.file_size:
        raise FileError(f"is broken (it has {len(source):,} bytes and says {entry.file_size:,}); pack it again")
    return source


def _told(error: Exception) -> str:
    return shown(str(error) or type(error).__name__)
