"""The types that all readers of submissions share: files and how to read each, limits, and notes about the rest."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from autograder.protocol.visible import visible

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
