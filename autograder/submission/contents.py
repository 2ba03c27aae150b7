"""The files of a submission: their types, limits and notes, and the readers of folders, zips and commits."""

import os
import re
import stat
import unicodedata
import zipfile
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import partial
from io import BufferedReader, BytesIO, FileIO, RawIOBase
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Literal, Protocol, cast

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
    text = printable(name)
    return text if len(text) <= 100 else f"{text[:97]}..."


def named_with_size(name: object, size: int | None) -> str:
    """Return an untrusted name with the size of its file, for display."""
    return f"{printable_name(name)} ({size:,} bytes)" if size is not None else printable_name(name)


# The owner of a submission: clues from its name in a download, and ids that can be names of reports.

NAME_BYTES = 200
"""A student's id becomes the name of a report, and file systems allow 255 bytes."""

_REFUSED = frozenset('/\\:*?"<>|')


@dataclass(frozen=True)
class Clue:
    """Clues to the student who handed something in; `own` is the id that is used if no roster knows it."""

    own: str
    name: str | None = None
    login: str | None = None
    lms_id: str | None = None
    logins: tuple[str, ...] = ()


class Students(Protocol):
    """The students of a class."""

    def find(self, clue: Clue) -> tuple[str, ...]:
        """Return the ids of the students that a clue fits: one, none, or several if it is ambiguous."""

    def find_number(self, clue: Clue) -> tuple[str, ...]:
        """Return the ids of the students whose id or login is the same number, with other zeros before it."""

    def owns(self, student: str, clue: Clue) -> bool:
        """Say whether this student's row has the number or the login of a clue."""

    def has(self, student: str) -> bool:
        """Say whether a student has this id, or one that differs only in upper and lower case."""

    def has_group(self, name: str) -> bool:
        """Say whether this is the name of a group of students, as a platform may write it."""


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


def without_zeros(number: str) -> str:
    """Return a number without the zeros before it, as a spreadsheet writes it; empty for every other text."""
    return (number.lstrip("0") or "0") if number.isascii() and number.isdigit() else ""


def casefolded(name: str) -> str:
    """Return a name as case-insensitive file systems compare it: no two students may share a report's file name."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


# Read and write times with time zones.

_TIME = re.compile(
    r"\s*(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)\s*"
    r"(?:(?P<utc>Z|UTC|GMT)|(?P<offset>[+-]\d\d:?\d\d)|(?P<zone>[A-Za-z]+(?:[/_+-][A-Za-z0-9_+-]+){0,3}))?\s*",
    re.ASCII,
)
YEARS = range(1971, 3000)
"""Years of submissions, far from the limits of datetime, so that no deadline overflows."""


def parse_time(text: str, zone: tzinfo) -> datetime | None:
    """Return the UTC time of a text like `2026-03-01 23:59`, with optional seconds and zone; None if it is not one.

    Without a zone of its own it is a time in `zone`. If clocks show it twice, or never, the later moment counts.
    """
    match = _TIME.fullmatch(text[:80])
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(digits or 0) for digits in match.groups()[:6])
    try:
        own = _zone(match) or zone
        wall = datetime(year, month, day, hour, minute, second, int((match[7] or "0")[:6].ljust(6, "0")))
        return to_utc(wall, own) if year in YEARS else None
    except (ValueError, OverflowError, OSError, LookupError):
        return None


def to_utc(wall: datetime, zone: tzinfo) -> datetime:
    """Return the UTC time at which the clocks of a zone show a time; the later if they show it twice or never.

    So a deadline in the hour that the clocks repeat ends with its second pass.
    """
    return max(wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))


def format_time(time: datetime | None, zone: tzinfo = UTC) -> str:
    """Return a UTC time as text in a zone, to the second, with its offset from UTC."""
    return time.astimezone(zone).isoformat(sep=" ", timespec="seconds") if time else ""


def _zone(match: re.Match[str]) -> tzinfo | None:
    if match["utc"]:
        return UTC
    if match["offset"]:
        sign = -1 if match["offset"][0] == "-" else 1
        digits = match["offset"][1:].replace(":", "")
        return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))
    if not match["zone"]:
        return None
    from zoneinfo import ZoneInfo  # only for a time with a zone

    return ZoneInfo(match["zone"])


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


# Read the time of the checked-out commit from an untrusted .git, without running git on it.
#
# git runs programs that the repository configures (`core.fsmonitor`, `core.sshCommand`, `gpg.program`, a promisor
# remote and more in `.git/config`), so it is not used here. Only HEAD, refs, loose objects and packs are read, as
# documented in gitformat-pack(5) and gitrepository-layout(5). No link is followed, and every read has a limit.

_OBJECT = 1 << 18  # bytes of the largest commit; real ones have a few hundred
_REFS = 1 << 22  # bytes of packed-refs
_PACKS = 200  # packs to look into; git itself repacks from 50 on
_DELTAS = 60  # deltas in a chain; git makes chains of at most 50
_COMMITTER = re.compile(rb"^committer [^\n]* (\d{1,12}) [+-]\d{4}$", re.MULTILINE)
_NAME = re.compile(r"[0-9a-f]{40}")

Object = tuple[int, bytes]
"""The type of an object, 1 for a commit, and its bytes."""


def commit_time(repository: Path) -> datetime | None:
    """Return the committer's time of HEAD (UTC), which the student's machine wrote; None if it cannot be read."""
    git = repository / ".git"
    try:
        if kind_of(git) != "folder":
            return None
        name = _checked_out(git)
        commit = _object(git / "objects", name, 0) if name else None
        if commit is None or commit[0] != 1:
            return None
        committer = _COMMITTER.search(commit[1].split(b"\n\n", 1)[0])
        time = datetime.fromtimestamp(int(committer[1]), UTC) if committer else None
        return time if time is not None and time.year in YEARS else None
    except (FileError, OSError, ValueError, OverflowError, IndexError, zlib.error):
        return None


def _checked_out(git: Path) -> str | None:
    """Return the hash of the checked-out commit."""
    ref = "HEAD"
    for _ in range(5):  # as many symbolic refs as git itself follows
        text = _text(git, ref)
        if text is None or _NAME.fullmatch(text):
            return text if text is not None else _packed_ref(git, ref)
        pointed = re.fullmatch(r"ref: (refs/[\w./+@=-]+)", text, re.ASCII)
        if pointed is None or ".." in pointed[1]:
            return None
        ref = pointed[1]
    return None


def _text(git: Path, ref: str) -> str | None:
    folder = git
    for part in Path(ref).parts[:-1]:
        folder /= part
        if not folder.exists() or kind_of(folder) != "folder":
            return None
    file = git / ref
    return read_plain(file, 4096).decode("ascii").strip() if os.path.lexists(file) else None


def _packed_ref(git: Path, ref: str) -> str | None:
    if not os.path.lexists(git / "packed-refs"):
        return None
    text = read_plain(git / "packed-refs", _REFS).decode("utf-8", "replace")
    match = re.search(rf"^([0-9a-f]{{40}}) {re.escape(ref)}$", text, re.MULTILINE)
    return match[1] if match else None


def _object(objects: Path, name: str, depth: int) -> Object | None:
    """Return the object with a hash, from a loose file or a pack. `depth` counts the deltas that led to it."""
    if depth > _DELTAS or kind_of(objects) != "folder":
        return None
    loose = objects / name[:2] / name[2:]
    if os.path.lexists(loose) and kind_of(loose.parent) == "folder":
        head, _, data = _inflated(read_plain(loose, _OBJECT), _OBJECT).partition(b"\0")
        return (1 if head.startswith(b"commit ") else 0), data
    packs = objects / "pack"
    if not os.path.lexists(packs) or kind_of(packs) != "folder":
        return None
    with os.scandir(packs) as entries:
        indexes = sorted(entry.name for entry in islice(entries, _PACKS * 4) if entry.name.endswith(".idx"))[:_PACKS]
    for index in indexes:
        offset = _offset(packs / index, bytes.fromhex(name))
        if offset is not None:
            with os.fdopen(open_plain((packs / index).with_suffix(".pack")), "rb") as pack:
                return _packed(objects, pack.fileno(), offset, depth)
    return None


def _offset(index: Path, name: bytes) -> int | None:
    """Return the offset of an object in the pack of an index (version 2), None if it is in another pack."""
    with os.fdopen(open_plain(index), "rb") as file:

        def number(at: int, size: int = 4) -> int:
            file.seek(at)
            return int.from_bytes(_exactly(file.read(size), size))

        def entry(at: int) -> bytes:
            file.seek(names + 20 * at)
            return _exactly(file.read(20), 20)

        if number(0) != 0xFF744F63 or number(4) != 2:
            return None
        names, count = 8 + 1024, number(8 + 1020)
        first = number(8 + 4 * (name[0] - 1)) if name[0] else 0
        last = min(number(8 + 4 * name[0]), count)
        at = bisect_left(range(count), name, first, max(first, last), key=entry)
        if at >= last or entry(at) != name:
            return None
        offset = number(names + 24 * count + 4 * at)
        return number(names + 28 * count + 8 * (offset & 0x7FFFFFFF), 8) if offset >> 31 else offset


def _packed(objects: Path, pack: int, at: int, depth: int) -> Object | None:
    """Return the object at an offset of a pack; a delta is applied to its base."""
    if depth > _DELTAS:
        return None
    head = _at(pack, at, 64)
    kind, length = head[0] >> 4 & 7, 1  # 6 is a delta with the offset of its base, 7 one with its hash
    while head[length - 1] & 0x80:
        length += 1
    base: Object | None = None
    if kind == 6:
        back = head[length] & 0x7F
        while head[length] & 0x80:
            length += 1
            back = ((back + 1) << 7) | (head[length] & 0x7F)
        length += 1
        base = _packed(objects, pack, at - back, depth + 1) if 0 < back <= at else None
    elif kind == 7:
        base = _object(objects, head[length : length + 20].hex(), depth + 1)
        length += 20
    data = _inflated(_at(pack, at + length, _OBJECT), _OBJECT)
    if kind not in (6, 7):
        return kind, data
    return (base[0], _patched(base[1], data)) if base else None


def _patched(base: bytes, delta: bytes) -> bytes:
    """Apply a delta to its base; raise ValueError or IndexError if the delta is invalid."""
    at = 0
    for _ in range(2):  # skips the sizes of base and result
        while delta[at] & 0x80:
            at += 1
        at += 1
    result = bytearray()
    while at < len(delta):
        code = delta[at]
        at += 1
        if not code & 0x80:
            result += delta[at : at + code]
            at += code or len(delta)
            continue
        numbers = [0] * 7
        for bit in range(7):
            if code >> bit & 1:
                numbers[bit] = delta[at]
                at += 1
        offset, size = int.from_bytes(numbers[:4], "little"), int.from_bytes(numbers[4:], "little") or 0x10000
        result += base[offset : offset + size]
        if len(result) > _OBJECT:
            raise ValueError("a commit is never that large")
    return bytes(result)


def _inflated(data: bytes, limit: int) -> bytes:
    return zlib.decompressobj().decompress(data, limit)


def _at(file: int, offset: int, size: int) -> bytes:
    os.lseek(file, offset, os.SEEK_SET)
    return os.read(file, size)


def _exactly(data: bytes, size: int) -> bytes:
    if len(data) != size:
        raise ValueError("the file is too short")
    return data
