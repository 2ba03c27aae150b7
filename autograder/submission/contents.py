"""The types that all readers of submissions share: files and how to read each, limits, and notes about the rest."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import PurePosixPath
from typing import Literal, Protocol

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

    @property
    def name_and_size(self) -> str:
        """Its name, with its size if that is known, safe to print."""
        return named_with_size(self.label or self.path, self.size)


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
