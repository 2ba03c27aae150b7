"""Read one student's files as bytes, from a folder or a zip."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from autograder.checks.structure import nearest
from autograder.course.digest import digest_of_parts
from autograder.submission.archive import open_archive, with_inner_zips
from autograder.submission.files import (
    LINK,
    Caps,
    FileError,
    Listing,
    SubmissionError,
    SubmittedFile,
    UnreadableError,
    printable,
    printable_name,
)
from autograder.submission.folder import Kind, kind_of, open_folder
from autograder.submission.ipython import IPythonMissing, is_python, python_of
from autograder.submission.names import checked_id
from autograder.submission.notebook import Cells, Notebook, cell_of, read_notebook
from autograder.submission.work import find_doubts, without_comments, written

Reader = Callable[[Path, Caps], AbstractContextManager[Listing]]

READERS: Mapping[str, Reader] = {".zip": open_archive}
"""The readers of submissions that are a single file, by the ending of its name."""

NOTES = 20
"""Notes of one submission: one that causes more was made to flood the report."""

OF_NOTEBOOK = " is the code of "
"""The words of a note that is about an ordinary notebook."""

_REMEDY = "write it in a code cell of its own"
_RENAMED = ("py.txt", "ipynb.txt", "ipynb.json", "txt", "py", "ipynb")
"""Endings, in any case, that a browser or an editor makes of those of a script and a notebook."""

_MAGICS = re.compile(rb"^[ \t]*[%!]", re.MULTILINE)

MOST_FOUND = 10
"""Files that the page of a student names if none could be read: enough to recognise the wrong upload."""


@dataclass(frozen=True)
class Submission:
    """The files that a student handed in, as bytes that no parser has read.

    `files` are the expected names. `digest` depends only on the names and bytes of `sources`, not on their paths.
    `notes` are sentences about files that were chosen or left out, without control characters. `cells` has the cells of
    each source that was made from a notebook. `unread` has a sentence for each expected file that exists and cannot be
    read. `unseen` is a sentence about a part of the submission that was not opened, in which the others may be. If none
    of the files could be read, `found` has the names and sizes of the files that are there. `doubts` has a sentence for
    each expected file without work, or with less, for which another file that was not read has work: a person decides.
    `left` has sentences about work on an expected file that is in it, and that Python never sees.
    """

    student: str
    files: tuple[str, ...]
    sources: Mapping[str, bytes]
    digest: str
    notes: tuple[str, ...]
    cells: Mapping[str, Cells] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    unseen: str = ""
    found: tuple[str, ...] = ()
    doubts: Mapping[str, str] = field(default_factory=dict)
    left: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def held(self) -> bool:
        """Whether no expected file could be read, so that a person has to decide what the submission is worth."""
        return not self.sources

    @property
    def missing(self) -> tuple[str, ...]:
        """The expected files that were not found, or could not be read."""
        return tuple(file for file in self.files if file not in self.sources)

    def place(self, file: str, line: int) -> str:
        """Return the location of a line as its student sees it: `line 3`, or `cell 4, line 3` of a notebook.

        Cells are counted from 1, including those with text.
        """
        cell = cell_of(self.cells.get(file, ()), line)
        return f"cell {cell[0]}, line {cell[1]}" if cell else f"line {line}"


@dataclass(frozen=True, eq=False)
class Handout:
    """The files that were handed out, by name: stubs and their notebooks. A file that equals them is no work."""

    files: Mapping[str, bytes] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """The digest of all of them."""
        return digest(self.files)

    def is_stub(self, file: str, source: bytes) -> bool:
        """Say whether a source equals its stub, except for white space at the ends of lines."""
        return file in self.files and _lines(self.files[file]) == _lines(source)

    def is_notebook(self, file: str, book: Notebook, limit: int) -> bool:
        """Say whether the code of a notebook equals the notebook that was handed out, or its stub.

        Comments and empty lines are ignored, since the text of a lesson may be in either, or in text cells.
        """
        stub = self.files.get(f"{file.removesuffix('.ipynb')}.py")
        if stub is not None and _code(stub) == _code(book.source):
            return True
        try:
            return file in self.files and _code(read_notebook(self.files[file], limit).source) == _code(book.source)
        except FileError:
            return False


NO_HANDOUT = Handout()


def read_submission(
    path: Path, files: Sequence[str], caps: Caps | None = None, handout: Handout = NO_HANDOUT
) -> Submission:
    """Read the expected files from a folder or a zip. Nothing is run, unpacked, followed or written.

    Raises `SubmissionError`, and nothing else, if the folder or zip cannot be read.
    """
    caps = caps or Caps()
    student, reader = _student_and_reader(path)
    with reader(path, caps) as listing:
        return read_listing(student, listing, files, caps, handout)


def read_listing(student: str, listing: Listing, files: Sequence[str], caps: Caps, handout: Handout) -> Submission:
    """Read the expected files of a listing. Of a .py and a notebook that were both edited, the .py counts."""
    reading = _Reading(with_inner_zips(listing, caps), files, caps, handout)
    for file in files:
        reading.read(file)
    doubts = find_doubts(reading.listing, files, reading.sources, reading.counted, reading.unread, handout.files, caps)
    doubts |= reading.doubts
    refusals = (f"{other.display_name} {other.refused}" for other in reading.listing.files if other.refused)
    said = [*reading.notes, *doubts.values()]
    near = _near_names(reading.listing.files, files, reading.sources, doubts)
    new = [note for note in refusals if note not in said]
    notes = [*reading.notes, *doubts.values(), *near, *new, *reading.listing.notes]
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
        () if sources else _named_files(reading.listing),
        doubts,
        reading.left,
    )


class _Reading:
    """Reads the expected files of a listing one by one, and collects notes."""

    def __init__(self, listing: Listing, files: Sequence[str], caps: Caps, handout: Handout) -> None:
        self.listing = listing
        self.wanted = frozenset((*files, *map(notebook_of, files)))
        self.caps = caps
        self.handout = handout
        self.sources: dict[str, bytes] = {}
        self.cells: dict[str, Cells] = {}
        self.notes: list[str] = []
        self.unread: dict[str, str] = {}
        self.counted: dict[str, SubmittedFile] = {}
        self.doubts: dict[str, str] = {}
        self.left: dict[str, tuple[str, ...]] = {}

    def read(self, file: str) -> None:
        """Read a file, or its notebook, whichever counts."""
        limit = self.caps.source_bytes
        source, problem = self._best(file, limit)
        book, book_problem = self._notebook(file)
        stub = source is not None and self.handout.is_stub(file, source[1])
        if (source is None and book is None) or (stub and book_problem):
            if unread := (book_problem if stub else problem or book_problem):
                self.unread[file] = unread
            return
        if source is not None:
            self.counted[file], self.sources[file] = source[0], self._script(*source)
        if book is None or (source is not None and self.handout.is_notebook(notebook_of(file), book[1], limit)):
            self._note_comments(file)
            return
        if source is not None and not stub:
            self.notes.append(f"{source[0].display_name} counts, not {book[0].display_name}: both hold work")
            self._note_comments(file)
            return
        self.counted[file] = book[0]
        self.sources[file], self.cells[file] = book[1].source, book[1].cells
        self.notes.append(f"{file}{OF_NOTEBOOK}{book[0].display_name}")
        left = [*(f"{book[0].display_name}: {note}" for note in book[1].notes), *self._left(file, *book)]
        self.notes += left
        self.left[file] = tuple(left)

    def _script(self, file: SubmittedFile, source: bytes) -> bytes:
        """Return a script without lines that only IPython understands, as Colab and Jupyter export them."""
        if not _MAGICS.search(source):
            return source
        text = source.decode("utf-8-sig", "replace")
        try:
            plain = "".join(f"{line}\n" for line in python_of(text))
        except IPythonMissing:
            return source
        if is_python(text) or not is_python(plain):
            return source
        self.notes.append(f"{file.display_name} has lines for IPython, not for Python; they were left out")
        return plain.encode()

    def _left(self, file: str, other: SubmittedFile, book: Notebook) -> Iterator[str]:
        """Yield a sentence for each cell that was left out, or is a comment, and has work that no other cell has."""
        stub, name = self._stub(file), other.display_name
        known = written(_text(book.source), stub)
        for cell, what, text in book.left:
            if names := written(text, stub) - known:
                known |= names
                yield f"{name}: cell {cell} {what}, so its {_named(names)} was left out; {_REMEDY}"
        for names, line in _in_comments(_text(book.source), stub, known):
            at = cell_of(book.cells, line)
            yield f"{name}: cell {at[0] if at else 1} has {_named(names)} as a comment, which Python ignores"

    def _note_comments(self, file: str) -> None:
        """Note work in a script that is only a comment."""
        text, stub = _text(self.sources[file]), self._stub(file)
        for names, line in _in_comments(text, stub, written(text, stub)):
            at = f"{self.counted[file].display_name} has {_named(names)} as a comment from line {line} on"
            self.left[file] = (*self.left.get(file, ()), f"{at}, which Python ignores")
            self.notes.append(self.left[file][-1])

    def _stub(self, file: str) -> str:
        return _text(self.handout.files.get(file, b""))

    def _best(self, file: str, limit: int) -> tuple[tuple[SubmittedFile, bytes] | None, str]:
        """Return the file of that name that counts with its bytes, or None with the reason if it cannot be read."""
        ranked = _ranked(file, self.listing.files, self.wanted)
        if not ranked:
            return None, ""
        if len(ranked) > 1:
            self.notes.append(_choice(file, ranked))
        try:
            return (ranked[0], ranked[0].read(limit)), ""
        except FileError as error:
            return None, self._problem(ranked[0], error)

    def _notebook(self, file: str) -> tuple[tuple[SubmittedFile, Notebook] | None, str]:
        best, problem = self._best(notebook_of(file), self.caps.notebook_kib * 1024)
        if best is None:
            return None, problem
        try:
            return (best[0], read_notebook(best[1], self.caps.source_bytes)), ""
        except FileError as error:
            self._missing_ipython(best[0], error)
            return None, self._problem(best[0], error)

    def _missing_ipython(self, file: SubmittedFile, error: FileError) -> None:
        if isinstance(error, IPythonMissing):
            self.doubts[f"{file.path.stem}.py"] = f"{file.display_name} {error}"

    def _problem(self, file: SubmittedFile, error: FileError) -> str:
        """Add a note about a file that cannot be read; return the sentence without folders, for a finding."""
        why = f"{error}; check its permissions" if isinstance(error, UnreadableError) else str(error)
        self.notes.append(f"{file.display_name} {why}")
        return f"{printable_name(file.path.name)} {why}"


def cut(notes: Sequence[str]) -> tuple[str, ...]:
    """Return the first `NOTES` notes, and the number of the others."""
    more = len(notes) - NOTES
    return (*notes[:NOTES], f"and {more:,} more notes like these") if more > 0 else tuple(notes)


def notebook_of(file: str) -> str:
    """Return the name of the notebook that may hold the code of a file."""
    return f"{file.removesuffix('.py')}.ipynb"


def digest(sources: Mapping[str, bytes]) -> str:
    """Return `sha256:...` over the sorted names and the bytes, each preceded by its length."""
    return f"sha256:{digest_of_parts(part for name in sorted(sources) for part in (name.encode(), sources[name]))}"


def _named_files(listing: Listing) -> tuple[str, ...]:
    """Return the names and sizes of the first files that are there, and the number of the others."""
    names = [*listing.closed, *(file.name_and_size for file in listing.files)]
    more = len(names) - MOST_FOUND
    return (*names[:MOST_FOUND], f"and {more:,} more") if more > 0 else tuple(names)


def student_name(path: Path, kind: Kind) -> str:
    """Return the name of a submission's folder, or of its file without the ending; it must be a valid id."""
    name = path.resolve().name if path.name in ("", "..") else path.name
    return checked_id(name.removesuffix(path.suffix) if kind == "file" else name, path)


def reader_of(path: Path, kind: Kind) -> Reader | None:
    """Return the reader of a path, or None if there is none."""
    return open_folder if kind == "folder" else READERS.get(path.suffix.lower()) if kind == "file" else None


def _student_and_reader(path: Path) -> tuple[str, Reader]:
    """Return the student of a submission and its reader; raises `SubmissionError` if there is none."""
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


def _ranked(file: str, submitted: Sequence[SubmittedFile], wanted: frozenset[str]) -> list[SubmittedFile]:
    """Return the files of that name, the one that counts first.

    That is the latest, then the one nearest to the top, then the one in the folder with most expected files. Refused
    files come last: they never hide one that can be read.
    """
    named = [other for other in submitted if other.path.name == file and not other.is_aside]
    if len(named) < 2:
        return named
    expected: Counter[PurePosixPath] = Counter(other.path.parent for other in submitted if other.path.name in wanted)

    def order(other: SubmittedFile) -> tuple[bool, int, int, int, tuple[str, ...]]:
        return bool(other.refused), -other.rank, other.depth, -expected[other.path.parent], other.path.parts

    return sorted(named, key=order)


def _choice(file: str, ranked: Sequence[SubmittedFile]) -> str:
    others = ", ".join(other.display_name for other in ranked[1:3])
    rest = f" and {len(ranked) - 3:,} more" if len(ranked) > 3 else ""
    return f"{file} is there {len(ranked):,} times; {ranked[0].display_name} counts, not {others}{rest}"


def _near_names(
    submitted: Sequence[SubmittedFile], files: Sequence[str], sources: Mapping[str, bytes], doubts: Mapping[str, str]
) -> list[str]:
    """Return a sentence for each missing file that may be there under a similar name, which no doubt speaks of."""
    names = {other.path.name for other in submitted}
    wanted = {*files, *map(notebook_of, files)}
    unexpected = {}
    for name in sorted(names - wanted):
        if any(printable_name(name) in doubt for doubt in doubts.values()):
            continue
        first, dot, endings = name.partition(".")
        if dot and endings.lower() in _RENAMED:
            unexpected[first] = name
        elif name.endswith((".py", ".ipynb")):
            unexpected[Path(name).stem] = name
    stems = sorted(unexpected)[:100]  # comparing takes time for each, and a student chooses how many there are
    notes = []
    for file in files:
        near = nearest(Path(file).stem, stems) if file not in {*names, *sources, *doubts} else None
        if near:
            notes.append(
                f"{file} is missing, and there is {printable_name(unexpected[near])}; rename it if that is the one"
            )
    return notes


def _text(source: bytes) -> str:
    return source.decode("utf-8-sig", "replace")


def _named(names: Collection[str]) -> str:
    first = sorted(names)
    return f"`{first[0]}`" if len(first) == 1 else f"`{first[0]}` and {len(first) - 1} more"


def _in_comments(text: str, stub: str, known: Collection[str]) -> Iterator[tuple[frozenset[str], int]]:
    """Yield the functions of a stub that are written in comments alone, and the line of the first; at most once."""
    if "def " not in text or not (names := written(without_comments(text), stub) - frozenset(known)):
        return
    word = sorted(names)[0].rpartition(".")[2]
    for at, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith("#") and f"def {word}" in line:
            yield names, at
            return


def _lines(source: bytes) -> list[bytes]:
    return [line.rstrip() for line in source.strip().splitlines()]


def _code(source: bytes) -> list[bytes]:
    return [line for line in _lines(source) if line.strip() and not line.lstrip().startswith(b"#")]
