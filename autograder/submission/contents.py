"""The files of a submission: their types, limits and notes, and the readers of folders and zips."""

import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from io import BufferedReader, BytesIO, FileIO, RawIOBase
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Literal, cast

from autograder.course import shortened
from autograder.protocol import visible

SKIPPED_FOLDERS = frozenset({"__pycache__", "__MACOSX", "node_modules", "venv", "site-packages"})

_OF_TOOLS = frozenset(
    {".git", ".hg", ".svn", ".venv", ".env", ".tox", ".nox", ".cache", ".course", ".mypy_cache", ".pytest_cache"}
    | {".ruff_cache", ".idea", ".vscode", ".conda", ".local", ".config", ".npm", ".ipython", ".jupyter", ".Trash"}
)
"""Hidden folders that only programs write to."""

LINK = "is a link, and links are not followed; hand in the file itself"
SPECIAL = "is not a plain file, so it was not read"


class SubmissionError(Exception):
    """A submission cannot be read at all; the message says what was found, what was expected and what to do."""


class FileError(Exception):
    """One file of a submission cannot be read; the message continues a sentence that begins with the file's name."""


class UnreadableError(FileError):
    """The system does not let this user read a file."""


@dataclass(frozen=True)
class Caps:
    """Limits on how much of a submission is read.

    The sizes of one source, of one notebook with its outputs, and of all inner zips together are in KiB. `entries` and
    `depth` limit the walk through folders, `inner_zips` and `inner_depth` the zips that are opened inside.
    """

    source_kib: int = 256
    entries: int = 5000
    depth: int = 8
    notebook_kib: int = 8 * 1024
    inner_kib: int = 16 * 1024
    inner_zips: int = 20
    inner_depth: int = 2

    @property
    def source_bytes(self) -> int:
        """Return the size limit of all sources together, in bytes."""
        return self.source_kib * 1024


@dataclass(frozen=True)
class SubmittedFile:
    """A file of a submission: its path in the submission, and how to read it.

    `read` takes a limit in bytes and returns at most as many, or raises `FileError`. Of two files with one name, the
    higher `rank` was handed in later. `label` is its original name if a download changed it. `refused` is the reason
    why it is never read; it continues a sentence that begins with the file's name. `size` is in bytes, if it is known.
    """

    path: PurePosixPath
    read: Callable[[int], bytes]
    rank: int = 0
    label: str = ""
    refused: str = ""
    size: int | None = None

    @property
    def depth(self) -> int:
        """Return how many folders the file is in."""
        return len(self.path.parts)

    @property
    def is_aside(self) -> bool:
        """Whether it is in a hidden folder, as a backup of an editor is: it is never the hand-in."""
        return any(map(is_skipped, self.path.parts[:-1]))

    @property
    def display_name(self) -> str:
        """Its name, safe to print."""
        return printable_name(self.label or self.path)


class Note(str):
    """A note that is more than a sentence: nothing can be lost by an `ordinary` one; one of `time` may cost points."""

    kind: Literal["", "ordinary", "time"]

    def __new__(cls, sentence: str, kind: Literal["", "ordinary", "time"] = "") -> "Note":
        made = super().__new__(cls, sentence)
        made.kind = kind
        return made


def notes_of(kind: Literal["ordinary", "time"], notes: Iterable[str]) -> list[str]:
    """Return the notes of a kind."""
    return [note for note in notes if isinstance(note, Note) and note.kind == kind]


@dataclass
class Listing:
    """The files of a submission in a fixed order, and a note for everything that was skipped.

    `unseen` are the notes about parts that were not opened, which may contain more files; `closed` are the names and
    sizes of whole parts, like a broken zip.
    """

    files: list[SubmittedFile] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)

    def skip(self, sentence: str) -> None:
        """Add a note about a part that is not opened."""
        self.notes.append(sentence)
        self.unseen.append(sentence)

    def replace(self, name: str, other: "Listing") -> None:
        """Put another listing in the place of a file and of the notebook, or module, with the same stem."""
        stem = PurePosixPath(name).stem
        same = {f"{stem}.py", f"{stem}.ipynb"}
        self.files = [file for file in self.files if file.path.name not in same] + other.files
        self.notes += other.notes

    def add(self, other: "Listing", prefix: str = "") -> None:
        """Add another listing, with a prefix before its notes."""
        self.files += other.files
        self.notes += [f"{prefix}{note}" for note in other.notes]
        self.unseen += [f"{prefix}{note}" for note in other.unseen]
        self.closed += other.closed


def refused_file(path: PurePosixPath, why: str, label: str = "") -> SubmittedFile:
    """Return a file of a submission that is never read."""

    def read(_: int) -> bytes:
        raise FileError(why)

    return SubmittedFile(path, read, label=label, refused=why)


def too_large_error(size: int, limit: int) -> FileError:
    """Return the error for a file with more bytes than the limit."""
    allowed = f"more than the {limit // 1024:,} KiB a file may have"
    return FileError(f"has {size:,} bytes, {allowed}, so it was not read; hand in a smaller one")


def too_many_entries(count: int, caps: Caps) -> str:
    """Return the note for a zip or folder with more entries than are read."""
    return f"there are {count:,} entries, more than {caps.entries:,}; the rest was not read"


def may_hold_backups(folder: str) -> bool:
    """Say whether a hidden folder may have copies of a student's work, as `.ipynb_checkpoints` and `.history` do."""
    return folder.startswith(".") and folder not in _OF_TOOLS


def is_skipped(folder: str) -> bool:
    """Say whether a folder contains no work of a student: it is hidden, a cache or an environment."""
    return folder.startswith(".") or folder in SKIPPED_FOLDERS


def printable(text: object) -> str:
    """Return a text on one line with every invisible character as its escape, so that it is safe to print."""
    return visible(str(text))


def printable_name(name: object) -> str:
    """Return an untrusted name for display: safe to print, and cut if it is long."""
    return shortened(printable(name), 100)


def named_with_size(name: object, size: int | None) -> str:
    """Return an untrusted name with the size of its file, for display."""
    return f"{printable_name(name)} ({size:,} bytes)" if size is not None else printable_name(name)


# Ids of students that can be names of reports.

NAME_BYTES = 200
"""A student's id becomes the name of a report, and file systems allow 255 bytes."""

_REFUSED = frozenset('/\\:*?"<>|')


def checked_id(name: str, where: object) -> str:
    """Return a student's id in normal form (NFC); raise `SubmissionError` if it cannot be the name of a report."""
    name = unicodedata.normalize("NFC", name)
    valid = visible(name) == name and not _REFUSED & set(name)
    if not name.strip(" .") or not valid or len(name.encode(errors="replace")) > NAME_BYTES:
        expected = f"printable letters, none of {''.join(sorted(_REFUSED))}, {NAME_BYTES} bytes at most"
        raise SubmissionError(
            f"{printable(where)} has a name that cannot be a student's, expected {expected}; rename it"
        )
    return name


# Read folders and zips, and the zips in them: entry by entry, nothing is unpacked to disk, and no link is followed.

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
    with open_for_reading(path, caps) as file:
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
