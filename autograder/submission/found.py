"""What every reader of submissions has in common: files found, how to read each, and sentences about the rest."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

SKIPPED_FOLDERS = frozenset({"__pycache__", "__MACOSX", "node_modules", "venv", "site-packages"})

LINK = "is a link, and links are not followed; hand in what it leads to"
SPECIAL = "is not a plain file; it was not read"


class SubmissionError(Exception):
    """A submission cannot be read at all; the message says what was found, what was expected and what to do."""


class FileError(Exception):
    """One file of a submission cannot be read; the message is the rest of a sentence that begins with its name."""


class UnreadableError(FileError):
    """The system does not let this user read a file."""


@dataclass(frozen=True)
class Caps:
    """How much of a submission is looked at.

    The size of one source, of one notebook with its outputs, and of all zips inside together, in KiB; the entries
    walked; the folders inside folders; the zips inside, and how deep.
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
        return self.source_kib * 1024


@dataclass(frozen=True)
class Found:
    """A plain file of a submission: where it lies in it, and how to read it.

    `read` takes the most bytes there may be, and returns as many at most, or raises `FileError`. Of two files of one
    name that with the higher `rank` was handed in later; `label` is its name where a download gave it another.
    `refused` says why it is never read, as the rest of a sentence that begins with its name.
    """

    path: PurePosixPath
    read: Callable[[int], bytes]
    rank: int = 0
    label: str = ""
    refused: str = ""

    @property
    def depth(self) -> int:
        return len(self.path.parts)

    @property
    def told(self) -> str:
        """Its name, fit to be printed."""
        return shown(self.label or self.path)


@dataclass
class Listing:
    """What a reader found: files in a fixed order, and a sentence for each thing it left out.

    `unseen` are those of the sentences that are about a part which was not looked into: more files may be in it.
    """

    files: list[Found] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)

    def leave(self, sentence: str) -> None:
        """Note that a part is not looked into."""
        self.notes.append(sentence)
        self.unseen.append(sentence)

    def add(self, other: "Listing", prefix: str = "") -> None:
        """Add what another reader found, its sentences behind a prefix."""
        self.files += other.files
        self.notes += [f"{prefix}{note}" for note in other.notes]
        self.unseen += [f"{prefix}{note}" for note in other.unseen]


def refused(path: PurePosixPath, why: str, label: str = "") -> Found:
    """Return a file that is there and never read."""

    def read(_: int) -> bytes:
        raise FileError(why)

    return Found(path, read, label=label, refused=why)


def too_large(size: int, limit: int) -> FileError:
    """Return the error for a file of more bytes than there may be."""
    allowed = f"more than the {limit // 1024:,} KiB a file may have"
    return FileError(f"has {size:,} bytes, {allowed}; it was not read: hand in a smaller one")


def skipped(folder: str) -> bool:
    """Say whether a folder holds nothing a student wrote: hidden, a cache, an environment."""
    return folder.startswith(".") or folder in SKIPPED_FOLDERS


def printable(text: object) -> str:
    """Return a text with its control characters written out, so that it can go to any terminal."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in str(text))


def shown(name: object) -> str:
    """Return a name that a stranger chose as one that can be printed and is not too long."""
    text = printable(name)
    return text if len(text) <= 100 else f"{text[:97]}..."
