"""One student's files as bytes, out of a folder or a zip."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from autograder.checks.structure import nearest
from autograder.submission.archive import open_archive, with_inner_zips
from autograder.submission.folder import Kind, kind_of, open_folder
from autograder.submission.found import (
    LINK,
    Caps,
    FileError,
    Found,
    Listing,
    SubmissionError,
    UnreadableError,
    printable,
    shown,
)
from autograder.submission.names import checked_id
from autograder.submission.notebook import Cells, Notebook, cell_of, read_notebook

Reader = Callable[[Path, Caps], AbstractContextManager[Listing]]

READERS: Mapping[str, Reader] = {".zip": open_archive}
"""How a submission that is a file is read, by the ending of its name."""

NOTES = 20
"""A submission with more to say than this was made to say it."""


@dataclass(frozen=True)
class Submission:
    """What a student handed in: the expected files that were found, unread by any parser.

    `files` are the expected names; `digest` depends on the names and bytes of `sources` alone, not on where they
    lay; `notes` are sentences about what was left out or chosen, free of control characters. A source that was made
    of a notebook has in `cells` where its lines come from. `unread` has a sentence for each expected file that is
    there and cannot be read, and `unseen` is one about a part of the submission in which the others may be.
    """

    student: str
    files: tuple[str, ...]
    sources: Mapping[str, bytes]
    digest: str
    notes: tuple[str, ...]
    cells: Mapping[str, Cells] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    unseen: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """The expected files that were not found or not taken."""
        return tuple(file for file in self.files if file not in self.sources)

    def place(self, file: str, line: int) -> str:
        """Return where a line of a source is, as its student sees it: `cell 4, line 3` of a notebook, or `line 3`.

        Every cell counts, text too, from 1.
        """
        cell = cell_of(self.cells.get(file, ()), line)
        return f"cell {cell[0]}, line {cell[1]}" if cell else f"line {line}"


@dataclass(frozen=True, eq=False)
class Given:
    """The files that were handed out: stubs, and notebooks of them by their names. What equals them is no work."""

    files: Mapping[str, bytes] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """The digest of them all."""
        return digest(self.files)

    def is_stub(self, file: str, source: bytes) -> bool:
        """Say whether a source is the stub still, but for white space at the ends of lines."""
        return file in self.files and _lines(self.files[file]) == _lines(source)

    def is_notebook(self, file: str, book: Notebook, limit: int) -> bool:
        """Say whether the code of a notebook is what was handed out, as a notebook or as the stub it was made of.

        Comments and empty lines do not count: the text of a lesson is one or the other, or neither.
        """
        stub = self.files.get(f"{file.removesuffix('.ipynb')}.py")
        if stub is not None and _code(stub) == _code(book.source):
            return True
        try:
            return file in self.files and _code(read_notebook(self.files[file], limit).source) == _code(book.source)
        except FileError:
            return False


NOTHING_GIVEN = Given()


def read_submission(
    path: Path, files: Sequence[str], caps: Caps | None = None, given: Given = NOTHING_GIVEN
) -> Submission:
    """Read the expected files out of a folder or a zip. Nothing is run, unpacked, followed or written.

    Raises `SubmissionError`, and nothing else, where there is nothing to read them from.
    """
    caps = caps or Caps()
    student, reader = _opened(path)
    with reader(path, caps) as listing:
        return read_listing(student, listing, files, caps, given)


def read_listing(student: str, listing: Listing, files: Sequence[str], caps: Caps, given: Given) -> Submission:
    """Read the expected files out of what was found. A .py that was edited counts before a notebook."""
    reading = _Reading(with_inner_zips(listing, caps), files, caps, given)
    for file in files:
        reading.read(file)
    said = set(reading.notes)
    others = (f"{each.told} {each.refused}" for each in reading.listing.files if each.refused)
    notes = [*reading.notes, *_near_names(reading.listing.files, files, reading.sources)]
    notes += [*(each for each in others if each not in said), *reading.listing.notes]
    unseen, sources = reading.listing.unseen, reading.sources
    more = f" (and {len(unseen) - 1:,} more like this)" if len(unseen) > 1 else ""
    return Submission(
        student,
        tuple(files),
        sources,
        digest(sources),
        cut(notes),
        reading.cells,
        reading.unread,
        unseen[0] + more if unseen else "",
    )


class _Reading:
    """What is read of a listing, file by file."""

    def __init__(self, listing: Listing, files: Sequence[str], caps: Caps, given: Given) -> None:
        self.listing = listing
        self.wanted = frozenset((*files, *map(notebook_of, files)))
        self.caps = caps
        self.given = given
        self.sources: dict[str, bytes] = {}
        self.cells: dict[str, Cells] = {}
        self.notes: list[str] = []
        self.unread: dict[str, str] = {}

    def read(self, file: str) -> None:
        """Read the file, or its notebook, whichever counts."""
        limit = self.caps.source_bytes
        source, problem = self._first(file, limit)
        book, book_problem = self._notebook(file)
        stub = source is not None and self.given.is_stub(file, source[1])
        if (source is None and book is None) or (stub and book_problem):
            if unread := (book_problem if stub else problem or book_problem):
                self.unread[file] = unread
            return
        if source is not None:
            self.sources[file] = source[1]
        if book is None or (source is not None and self.given.is_notebook(notebook_of(file), book[1], limit)):
            return
        if source is not None and not stub:
            self.notes.append(f"{source[0].told} counts, not {book[0].told}: both hold work")
            return
        self.sources[file], self.cells[file] = book[1].source, book[1].cells
        self.notes.append(f"{file} is the code of {book[0].told}")
        self.notes += [f"{book[0].told}: {note}" for note in book[1].notes]

    def _first(self, file: str, limit: int) -> tuple[tuple[Found, bytes] | None, str]:
        """Return the file of that name that counts, and its bytes; or None, and why not where it is there."""
        rivals = _rivals(file, self.listing.files, self.wanted)
        if not rivals:
            return None, ""
        if len(rivals) > 1:
            self.notes.append(_choice(file, rivals))
        try:
            return (rivals[0], rivals[0].read(limit)), ""
        except FileError as error:
            return None, self._problem(rivals[0], error)

    def _notebook(self, file: str) -> tuple[tuple[Found, Notebook] | None, str]:
        found, problem = self._first(notebook_of(file), self.caps.notebook_kib * 1024)
        if found is None:
            return None, problem
        try:
            return (found[0], read_notebook(found[1], self.caps.source_bytes)), ""
        except FileError as error:
            return None, self._problem(found[0], error)

    def _problem(self, found: Found, error: FileError) -> str:
        """Note why a file cannot be read, and return that sentence, short enough for a finding."""
        why = f"{error}; check its permissions" if isinstance(error, UnreadableError) else str(error)
        self.notes.append(f"{found.told} {why}")
        return f"{shown(found.path.name)} {why}"


def cut(notes: Sequence[str]) -> tuple[str, ...]:
    """Return as many notes as anybody reads."""
    more = len(notes) - NOTES
    return (*notes[:NOTES], f"and {more:,} more notes like these") if more > 0 else tuple(notes)


def notebook_of(file: str) -> str:
    """Return the name of the notebook that may hold the code of a file."""
    return f"{file.removesuffix('.py')}.ipynb"


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
    return checked_id(name.removesuffix(path.suffix) if kind == "file" else name, path)


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


def _rivals(file: str, found: Sequence[Found], wanted: frozenset[str]) -> list[Found]:
    """Return the files of that name: the latest, then nearest to the top, then where most expected files are.

    What is never read comes last, whoever put it there.
    """
    named = [each for each in found if each.path.name == file]
    if len(named) < 2:
        return named
    held: Counter[PurePosixPath] = Counter(each.path.parent for each in found if each.path.name in wanted)
    return sorted(
        named,
        key=lambda each: (bool(each.refused), -each.rank, each.depth, -held[each.path.parent], each.path.parts),
    )


def _choice(file: str, rivals: Sequence[Found]) -> str:
    others = ", ".join(each.told for each in rivals[1:3])
    rest = f" and {len(rivals) - 3:,} more" if len(rivals) > 3 else ""
    return f"{file} is there {len(rivals):,} times; {rivals[0].told} counts, not {others}{rest}"


def _near_names(found: Sequence[Found], files: Sequence[str], sources: Mapping[str, bytes]) -> list[str]:
    """Return a sentence for each file that is missing and may be there by a name that is nearly right."""
    there = {each.path.name for each in found}
    wanted = {*files, *map(notebook_of, files)}
    strange = {Path(name).stem: name for name in sorted(there - wanted) if name.endswith((".py", ".ipynb"))}
    stems = sorted(strange)[:100]
    notes = []
    for file in files:
        near = nearest(Path(file).stem, stems) if file not in there and file not in sources else None
        if near:
            notes.append(f"{file} is missing; there is {shown(strange[near])}: if that is the one, rename it")
    return notes


def _lines(source: bytes) -> list[bytes]:
    return [line.rstrip() for line in source.strip().splitlines()]


def _code(source: bytes) -> list[bytes]:
    return [line for line in _lines(source) if line.strip() and not line.lstrip().startswith(b"#")]
