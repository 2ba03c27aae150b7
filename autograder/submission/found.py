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


@dataclass(frozen=True)
class Caps:
    """How much of a submission is looked at: the size of one file, the entries walked, the folders inside folders."""

    source_kib: int = 256
    entries: int = 5000
    depth: int = 8

    @property
    def source_bytes(self) -> int:
        return self.source_kib * 1024

    def too_large(self, size: int) -> FileError:
        """Return the error for a file of more than `source_kib`."""
        return FileError(f"has {size:,} bytes, more than the {self.source_kib} KiB a file may have; it was not read")


@dataclass(frozen=True)
class Found:
    """A plain file of a submission: where it lies in it, and how to read it.

    `read` returns at most `Caps.source_kib`, or raises `FileError`.
    """

    path: PurePosixPath
    read: Callable[[], bytes]

    @property
    def depth(self) -> int:
        return len(self.path.parts)


@dataclass
class Listing:
    """What a reader found: files in a fixed order, and a sentence for each thing it left out."""

    files: list[Found] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


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
