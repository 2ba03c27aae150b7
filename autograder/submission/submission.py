"""One student's files as bytes, out of a folder or a zip."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from autograder.checks.structure import nearest
from autograder.submission.archive import open_archive
from autograder.submission.folder import Kind, kind_of, open_folder
from autograder.submission.found import LINK, Caps, FileError, Found, Listing, SubmissionError, printable, shown

Reader = Callable[[Path, Caps], AbstractContextManager[Listing]]

READERS: Mapping[str, Reader] = {".zip": open_archive}
"""How a submission that is a file is read, by the ending of its name."""

NAME_BYTES = 200
"""A student's name becomes the name of a report, and file systems allow 255 bytes."""

NOTES = 20
"""A submission with more to say than this was made to say it."""


@dataclass(frozen=True)
class Submission:
    """What a student handed in: the expected files that were found, unread by any parser.

    `files` are the expected names; `digest` depends on the names and bytes of `sources` alone, not on where they
    lay; `notes` are sentences about what was left out or chosen, free of control characters.
    """

    student: str
    files: tuple[str, ...]
    sources: Mapping[str, bytes]
    digest: str
    notes: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """The expected files that were not found or not taken."""
        return tuple(file for file in self.files if file not in self.sources)


def read_submission(path: Path, files: Sequence[str], caps: Caps | None = None) -> Submission:
    """Read the expected files out of a folder or a zip. Nothing is run, unpacked, followed or written.

    Raises `SubmissionError`, and nothing else, where there is nothing to read them from.
    """
    caps = caps or Caps()
    student, reader = _opened(path)
    sources: dict[str, bytes] = {}
    notes: list[str] = []
    with reader(path, caps) as listing:
        for file in files:
            rivals = _rivals(file, listing.files, files)
            if len(rivals) > 1:
                notes.append(_choice(file, rivals))
            try:
                if rivals:
                    sources[file] = rivals[0].read()
            except FileError as error:
                notes.append(f"{shown(rivals[0].path)} {error}")
    notes += _near_names(listing.files, files, sources) + listing.notes
    more = len(notes) - NOTES
    kept = [*notes[:NOTES], f"and {more:,} more notes like these"] if more > 0 else notes
    return Submission(student, tuple(files), sources, digest(sources), tuple(kept))


def digest(sources: Mapping[str, bytes]) -> str:
    """Return `sha256:...` over the names, sorted, and the bytes, each with its length before it."""
    state = hashlib.sha256()
    for name in sorted(sources):
        for part in (name.encode(), sources[name]):
            state.update(len(part).to_bytes(8, "big"))
            state.update(part)
    return f"sha256:{state.hexdigest()}"


def student_name(path: Path, kind: Kind) -> str:
    """Return the name of a submission's folder, or of its file without the ending; it must do as a file's name."""
    name = path.resolve().name if path.name in ("", "..") else path.name
    if kind == "file":
        name = name.removesuffix(path.suffix)
    if not name.strip(" .") or not name.isprintable() or len(name.encode()) > NAME_BYTES:
        wanted = f"printable letters, {NAME_BYTES} bytes at most"
        raise SubmissionError(f"{printable(path)} has a name that cannot be a student's, expected {wanted}; rename it")
    return name


def reader_of(path: Path, kind: Kind) -> Reader | None:
    """Return what reads a path, or None where nothing does."""
    return open_folder if kind == "folder" else READERS.get(path.suffix.lower()) if kind == "file" else None


def _opened(path: Path) -> tuple[str, Reader]:
    """Return whose submission a path is and what reads it, or say why nothing can."""
    expected = "expected a folder of .py files or a zip of them"
    try:
        kind = kind_of(path)
    except FileError as error:
        raise SubmissionError(f"{printable(path)} {error}; {expected}: check the path") from None
    if kind == "link":
        raise SubmissionError(f"{printable(path)} {LINK}")
    reader = reader_of(path, kind)
    if reader is None:
        raise SubmissionError(f"{printable(path)} is neither a folder nor a zip, {expected}; give one of these")
    return student_name(path, kind), reader


def _rivals(file: str, found: Sequence[Found], files: Sequence[str]) -> list[Found]:
    """Return the files of that name: nearest to the top first, then from the folder with most expected files."""
    held = Counter(each.path.parent for each in found if each.path.name in files)
    named = [each for each in found if each.path.name == file]
    return sorted(named, key=lambda each: (each.depth, -held[each.path.parent], each.path.parts))


def _choice(file: str, rivals: Sequence[Found]) -> str:
    others = ", ".join(shown(each.path) for each in rivals[1:3])
    rest = f" and {len(rivals) - 3:,} more" if len(rivals) > 3 else ""
    return f"{file} is there {len(rivals):,} times; {shown(rivals[0].path)} counts, not {others}{rest}"


def _near_names(found: Sequence[Found], files: Sequence[str], sources: Mapping[str, bytes]) -> list[str]:
    """Return a sentence for each file that is missing and may be there by a name that is nearly right."""
    there = {each.path.name for each in found}
    stems = sorted({Path(name).stem for name in there if name.endswith(".py") and name not in files})[:100]
    notes = []
    for file in files:
        near = nearest(Path(file).stem, stems) if file not in there and file not in sources else None
        if near:
            notes.append(f"{file} is missing; there is {shown(near)}.py: if that is the one, rename it")
    return notes
