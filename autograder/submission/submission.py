"""Read one student's files as bytes, from a folder or a zip; and make those that students get to fill in."""

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from autograder.checks import nearest_name
from autograder.course import (
    BEGIN,
    Course,
    Exercise,
    StubError,
    digest_of_parts,
    make_stub,
    stub_text,
    stubs_dir,
)
from autograder.protocol import SURVEY_STATEMENTS, Function, Outline, outline_of
from autograder.results import Place, Todo, TodoState

from .contents import (
    LINK,
    Caps,
    FileError,
    Kind,
    Listing,
    Note,
    SubmissionError,
    SubmittedFile,
    UnreadableError,
    checked_id,
    kind_of,
    named_with_size,
    open_archive,
    open_folder,
    printable,
    printable_name,
    with_inner_zips,
)
from .notebook import Cells, IPythonMissing, Notebook, cell_of, is_python, python_of, read_notebook

# The state of each TODO of an exercise, read from the syntax of the stub and of the learner's file.

_PASS = outline_of("pass").statements[0][0]
"""The hash of `pass`, which is no work."""


def todos_of(stub: Outline | None, work: Outline | None, file: str) -> tuple[Todo, ...]:
    """Return the TODOs of a stub in their order, with their states in the learner's file.

    Omit a TODO whose function is no longer in the file: nothing is known about the work on it.
    """
    if stub is None or work is None or len(work.statements) >= SURVEY_STATEMENTS:
        return ()
    present = {function.name: function for function in work.functions}
    return tuple(
        _todo(given, _statements(given, stub), present[given.name], work, file)
        for given in stub.functions
        if given.todo and given.name in present
    )


def _todo(given: Function, handed_out: frozenset[str], own: Function, work: Outline, file: str) -> Todo:
    has_code = own.body == own.line or not _statements(own, work) <= {*handed_out, _PASS}
    state: TodoState = "done" if has_code else "empty"
    if own.todo:
        # The line of the TODO may have another text than in the stub: that is no work either.
        todo = {hash_ for hash_, line in work.statements if line == own.todo}
        state = "started" if _statements(own, work) - todo - handed_out - {_PASS} else "open"
    return Todo(given.name, state, Place(file, own.todo or (own.end if state == "empty" else own.body), given.name))


def _statements(function: Function, outline: Outline) -> frozenset[str]:
    """Return the hashes of the statements of a function, without its head."""
    within = range(function.line + 1, function.end + 1)
    return frozenset(hash_ for hash_, line in outline.statements if line in within)


# Find a student's work by its text alone, whatever holds it: a script, a notebook, a copy under another name.
#
# Only whole lines are compared, so nothing is parsed and a broken file is read too.

_DEFINITION = re.compile(r"(\s*)(?:async\s+)?(def|class)\s+(\w+)")
_ONE_LINE = re.compile(r"\)\s*(?:->[^:]*)?:\s*([^\s#].*)")
_QUOTES = re.compile(r'"""|\'\'\'')
_COMMENT = re.compile(r"^(\s*)#+ ?", re.MULTILINE)
_TAG = re.compile(r"<[^<>]*>")
_JSON_LINE = re.compile(r'\s*"(.*?)(?:\\n)?",?\s*')
_TODO = "raise NotImplementedError"
_IDLE = ("pass", "...")
_LONGEST = 1 << 20
_MOST_FILES = 500
_NUMBERED = re.compile(r"ex0*(\d+)", re.IGNORECASE)
_KIT = frozenset({"autograder", "docs"})
"""Folders of the kit itself, in which some names are those of exercises."""

_PACKED = frozenset({".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".xz"})
_DOCUMENTS = frozenset({".pdf", ".doc", ".docx", ".odt", ".rtf", ".pages"})

Bodies = Mapping[str, Sequence[str]]
"""The lines of each function, or of each method as `Class.method`, without comments and docstrings."""


def bodies(text: str) -> Bodies:
    """Return the lines of each function in a text; of two with one name, the later."""
    found: dict[str, list[str]] = {}
    owner, owner_at = "", -1
    name, at, quote, opened = "", -1, "", 0
    for line in text[:_LONGEST].splitlines():
        if quote:
            quote = "" if quote in line else quote
            continue
        mark = line.strip()
        if not mark or mark.startswith("#"):
            continue
        if opened > 0:  # the head of a function goes on
            opened += mark.count("(") - mark.count(")")
            continue
        indent = len(line) - len(line.lstrip())
        if name and indent <= at:
            name = ""
        match = _DEFINITION.match(line)
        if match and not name:
            if indent <= owner_at:
                owner, owner_at = "", -1
            if match[2] == "class":
                owner, owner_at = match[3], indent
                continue
            name, at = f"{owner}.{match[3]}" if owner else match[3], indent
            found[name] = []
            opened = mark.count("(") - mark.count(")")
            if opened == 0 and (rest := _ONE_LINE.search(mark)) is not None:
                found[name].append(rest[1])
            continue
        if mark.startswith(('"""', "'''", 'r"""')):
            marks = _QUOTES.findall(mark)
            quote = marks[0] if len(marks) % 2 else ""
        elif name:
            found[name].append(mark)
    return found


@lru_cache(maxsize=64)
def unwritten(stub: str) -> Bodies:
    """Return the functions that a stub leaves to write. Kept, since each text that may be work asks for it."""
    return {name: lines for name, lines in bodies(stub).items() if any(_TODO in line for line in lines)}


def written(text: str, stub: str) -> frozenset[str]:
    """Return those functions of a stub, left to write there, that a text has with lines of its own and no TODO."""
    given = unwritten(stub)
    own = bodies(text) if given and text != stub else {}
    return frozenset(
        name for name, lines in given.items() if _is_work(own.get(name, ()), lines) and not _has_todo(own[name])
    )


def _has_todo(lines: Sequence[str]) -> bool:
    return any(line.startswith(_TODO) for line in lines)


def _is_work(lines: Sequence[str], given: Sequence[str]) -> bool:
    known = {*given, *_IDLE}
    return any(line not in known and not line.startswith(_TODO) for line in lines)


def text_in(name: str, data: bytes) -> str:
    """Return the text of a file: of a notebook that of all its cells, of a page that of its code."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = data.decode(encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")
    if text.lstrip().startswith("{") and '"cells"' in text:
        return "\n".join(_cells(text))
    if name.lower().endswith((".html", ".htm")):
        return html.unescape(_TAG.sub("", text))
    return text


def _cells(text: str) -> Iterator[str]:
    """Yield the texts of the cells of a notebook; if it is broken, the lines in its JSON."""
    try:
        cells = json.loads(text)["cells"]
        yield from ("".join(cell["source"]) for cell in cells)
    except (ValueError, TypeError, KeyError, RecursionError):
        for line in text.splitlines():
            if match := _JSON_LINE.fullmatch(line):
                yield match[1].replace('\\"', '"').replace("\\n", "\n")


def find_doubts(reading: "_Reading", files: Sequence[str]) -> dict[str, str]:
    """Return a sentence for each expected file without work, or with less, than a file beside it that was not read."""
    sources, unread, caps = reading.sources, reading.unread, reading.caps
    stubs = {file: reading.stub(file) for file in files if file in reading.handout.files}
    have = {file: written(text_in(file, sources.get(file, b"")), stub) for file, stub in stubs.items()}
    lacking = {file: unwritten(stub).keys() - have[file] for file, stub in stubs.items()}
    lacking = {file: names for file, names in lacking.items() if names}
    if not lacking:
        return {}
    found: dict[str, list[SubmittedFile]] = {file: [] for file in lacking}
    left = caps.inner_kib * 1024
    read = {(one.path, one.rank) for one in reading.counted.values()}
    tried = {name for file in unread for name in (file, f"{file.removesuffix('.py')}.ipynb")}
    others = [
        one
        for one in reading.listing.files
        if (one.path, one.rank) not in read
        and not one.refused
        and one.path.name not in tried
        and one.path.suffix.lower() != ".zip"
    ]
    for other in others[:_MOST_FILES]:
        possible = [file for file in lacking if _may_be(other, file, sources)]
        if not possible or left <= 0:
            continue
        try:
            data = other.read(min(left, caps.notebook_kib * 1024))
        except FileError:
            continue
        left -= len(data)
        if b"def" not in data.replace(b"\0", b""):
            continue
        text = text_in(other.path.name, data)
        for file in possible:
            new = written(text, stubs[file]) & lacking[file]
            if new and (_is_near(other.path.name, file) or 2 * len(new) >= len(lacking[file])):
                found[file].append(other)
    closed = [] if any(have.values()) else reading.listing.unseen
    for file in lacking:
        if not have[file]:
            found[file] += [one for one in others if _is_closed(one, file, nothing=not any(have.values()))]
    doubts = {file: _doubt(file, reading, bool(have[file]), ones) for file, ones in found.items() if ones}
    unopened = [file for file in lacking if closed and file in sources and file not in doubts]
    return doubts | {file: f"{file} holds no work, and a part was not opened: {closed[0]}" for file in unopened}


def _doubt(file: str, reading: "_Reading", begun: bool, others: Sequence[SubmittedFile]) -> str:
    """Return the sentence about a file and the `others` that may be the one that is meant."""
    names = ", ".join(other.display_name for other in others[:2])
    names += f" and {len(others) - 2:,} more" if len(others) > 2 else ""
    closed = all(_is_document(other.path) for other in others)
    remedy = "rename it if that is the one"
    if closed:
        remedy = f"hand in {file}" if others[0].path.suffix.lower() in _DOCUMENTS else "pack it as a zip"
    elif all(other.path.name == file for other in others):
        remedy = "keep the one that is meant"
    if file not in reading.counted:
        lacks = "cannot be read" if file in reading.unread else "is missing"
        return f"{file} {lacks}, and there is {names}; {remedy}"
    holds = "is unfinished" if begun else "holds no work"
    work = "was not opened" if closed else "has more work" if begun else "has work"
    return f"{reading.counted[file].display_name} counts and {holds}, and {names} {work}; {remedy}"


def _may_be(other: SubmittedFile, file: str, sources: Mapping[str, bytes]) -> bool:
    """Say whether a file may be a copy of an expected one: it is none of another exercise, and none of the kit."""
    name = other.path.name
    stem = name.partition(".")[0]
    if _is_near(name, file):
        return True
    exercise = _NUMBERED.match(stem)
    if exercise is not None or f"{stem}.py" in sources or _KIT & set(other.path.parts[:-1]):
        return False
    return not _is_document(other.path)


def _is_closed(other: SubmittedFile, file: str, *, nothing: bool) -> bool:
    """Say whether a file is no text and may hold the work: it has the name, or `nothing` else in the hand-in does."""
    if not _is_document(other.path) or other.is_aside:
        return False
    packed = other.path.suffix.lower() in _PACKED
    return _is_near(other.path.name, file) or (packed and nothing)


def _is_document(path: PurePosixPath) -> bool:
    return path.suffix.lower() in (*_PACKED, *_DOCUMENTS)


def _is_near(name: str, file: str) -> bool:
    """Say whether a name is that of an expected file with something before, behind or between its letters."""
    stem, own = _squeezed(name), _squeezed(file.removesuffix(".py"))
    number = _NUMBERED.match(file)
    begins = number is not None and re.match(rf"(?:\w*?)(?:ex|exercise)?0*{int(number[1])}(?!\d)", stem) is not None
    return own in stem or (begins and _NUMBERED.match(name) is not None)


@lru_cache(maxsize=1024)
def _squeezed(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


Reader = Callable[[Path, Caps], AbstractContextManager[Listing]]

READERS: Mapping[str, Reader] = {".zip": open_archive}
"""The readers of submissions that are a single file, by the ending of its name."""

NOTES = 20
"""Notes of one submission: one that causes more was made to flood the report."""

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
    `left` has sentences about work on an expected file that is in it, and that Python never sees. `handed_in_by` names
    whose hand-in it is, if it is that of a group.
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
    handed_in_by: str = ""

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
    doubts = find_doubts(reading, files) | reading.doubts
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
        self.notes.append(Note(f"{file} is the code of {book[0].display_name}", "ordinary"))
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
        stub, name = self.stub(file), other.display_name
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
        text, stub = _text(self.sources[file]), self.stub(file)
        for names, line in _in_comments(text, stub, written(text, stub)) if text != stub else ():
            at = f"{self.counted[file].display_name} has {_named(names)} as a comment from line {line} on"
            self.left[file] = (*self.left.get(file, ()), f"{at}, which Python ignores")
            self.notes.append(self.left[file][-1])

    def stub(self, file: str) -> str:
        """Return the text of the stub of a file; "" if it has none."""
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
            if isinstance(error, IPythonMissing):
                self.doubts[f"{best[0].path.stem}.py"] = f"{best[0].display_name} {error}"
            return None, self._problem(best[0], error)

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
    names = [*listing.closed, *(named_with_size(file.label or file.path, file.size) for file in listing.files)]
    more = len(names) - MOST_FOUND
    return (*names[:MOST_FOUND], f"and {more:,} more") if more > 0 else tuple(names)


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
    name = path.resolve().name if path.name in ("", "..") else path.name
    return checked_id(name.removesuffix(path.suffix) if kind == "file" else name, path), reader


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
        near = nearest_name(Path(file).stem, stems) if file not in {*names, *sources, *doubts} else None
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
    if "def " not in text or not (names := written(_COMMENT.sub(r"\1", text), stub) - frozenset(known)):
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


# Read a learner's own work: the files in exercises/, and the notebooks below it.

NOTEBOOKS = "notebooks"
"""The folder of the notebooks in exercises/."""


def read_own(
    course: Course,
    exercises: Iterable[Exercise] | None = None,
    *,
    folder: Path | None = None,
    given: Handout | None = None,
) -> Submission:
    """Read the work on those exercises, or on all; from another `folder` or zip if one is given.

    `given` are their stubs, if they were read already. Of a file and a notebook, the one that was edited counts.

    Raises `SubmissionError`.
    """
    if folder is None and not course.exercises_dir.is_dir():
        makes = "`course build`" if course.solutions_dir.is_dir() else "`course reset`, with an exercise,"
        raise SubmissionError(f"there is no folder {course.exercises_dir}; {makes} writes the stubs into it")
    wanted = tuple(course.exercises if exercises is None else exercises)
    files = [exercise.file for exercise in wanted]
    caps = Caps(source_kib=course.limits.source_kib)
    given = given or stubs_of(course, wanted)
    submission = replace(read_submission(folder or course.exercises_dir, files, caps, given), doubts={})
    if folder and folder.resolve() == course.solutions_dir.resolve():
        return replace(submission, notes=())  # its subfolders have files of the same names, for other purposes
    return submission if folder else _without_handed_out(submission, given)


def _without_handed_out(submission: Submission, given: Handout) -> Submission:
    """Leave out a notebook without work whose file was deleted: then the exercise is missing."""
    handed_out = {
        file
        for file, cells in submission.cells.items()
        if given.is_notebook(notebook_of(file), Notebook(submission.sources[file], cells, ()), 0)
    }
    if not handed_out:
        return submission
    sources = {file: source for file, source in submission.sources.items() if file not in handed_out}
    return replace(submission, sources=sources, digest=digest(sources))


def notebook_file(course: Course, exercise: Exercise) -> Path:
    """Return the path of an exercise's notebook."""
    return course.exercises_dir / NOTEBOOKS / notebook_of(exercise.file)


def stubs_of(course: Course, exercises: Iterable[Exercise]) -> Handout:
    """Return the stubs of those exercises that this kit has."""
    stubs = {exercise.file: stub_text(course, exercise) for exercise in exercises}
    return Handout({file: stub.encode() for file, stub in stubs.items() if stub is not None})


def unconfined_warning(folder: Path) -> str:
    """Return the warning for checking somebody else's files, which nothing keeps from this machine."""
    return f"this runs the code in {folder} with your rights, without a sandbox; course grade uses one"


# The files that students get to fill in: stubs, and the notebooks made from them.
#
# A notebook is made from the solution: lesson, code to fill in, a cell that checks, room to try.
#
# Graded cells have metadata for nbgrader (https://nbgrader.readthedocs.io, metadata schema 3).

SETUP = "from autograder.notebook import check, hint, status, why"

CHECK = """\
## Check

Run the cells above first, then this one. It shows what is right and where the first mistake is{pictures}. \
In a cell of your own, `hint("{number}")` gives the next hint, `why()` explains your last mistake, \
and `status()` shows your progress. The number below the cell is your score.\
"""

ROOM = "# Try things out here: code below the check is not graded."

_DEFINED = re.compile(r"^(?:class|def) (\w+)", re.MULTILINE)
_OPEN = "raise NotImplementedError("
_TRY = re.compile(r"## Try\b")

Cell = dict[str, Any]


def notebook_of_text(text: str, exercise: Exercise, *, draws: bool = False, worth: float | None = None) -> str:
    """Return the notebook of a stub or a solution as JSON; equal texts give equal notebooks.

    `draws` tells whether the exercise has pictures to show once it passes. `worth` are its points, for nbgrader: only
    then the cell that checks is a cell that nbgrader grades. The points depend on the whole course, so a notebook that
    is handed out has none. The check of an exercise that is worth 0 has no value, since nbgrader has no bonus. Raises
    `StubError` without jupytext.
    """
    # Ids by position, so that a rebuild changes few of them.
    numbered = enumerate(_cells_of_stub(_split(text), exercise, draws, worth), 1)
    cells = [{**cell, "id": f"{exercise.id[:4]}-{number:02d}"} for number, cell in numbered]
    book = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(book, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _split(stub: str) -> list[tuple[str, str]]:
    """Return kind (`markdown` or `code`) and text of each cell of a percent script."""
    try:
        import jupytext
    except ImportError:
        raise StubError("notebooks need jupytext, which is not installed; run pip install jupytext") from None
    book = jupytext.reads(stub, fmt="py:percent")
    return [(cell.cell_type, cell.source.strip("\n")) for cell in book.cells if cell.source.strip()]


def _cells_of_stub(
    parts: Sequence[tuple[str, str]], exercise: Exercise, draws: bool, worth: float | None
) -> Iterator[Cell]:
    """Yield the cells: the import of the kit before the first code, and the check before the experiments."""
    trying = len(parts) - 1 if parts and parts[-1][0] == "markdown" and _TRY.match(parts[-1][1]) else len(parts)
    first = next((place for place, (kind, _) in enumerate(parts) if kind == "code"), trying)
    for place, (kind, text) in enumerate(parts[:trying]):
        if place == first:
            yield _code_cell(SETUP)
        yield _markdown(text) if kind == "markdown" else _written(text, exercise)
    pictures = ", and draws what you built once you pass" if draws else ""
    yield _markdown(CHECK.format(number=exercise.id[:4], pictures=pictures))
    yield _checking(exercise, worth)
    yield from (_markdown(text) for _, text in parts[trying:])
    yield _code_cell(ROOM)


def _markdown(text: str) -> Cell:
    return {"cell_type": "markdown", "metadata": {}, "source": _source_lines(text)}


def _code_cell(text: str, **metadata: object) -> Cell:
    source = _source_lines(text)
    return {"cell_type": "code", "execution_count": None, "metadata": metadata, "outputs": [], "source": source}


def _written(text: str, exercise: Exercise) -> Cell:
    """Return a code cell, marked for nbgrader if the student fills it in."""
    named = _DEFINED.findall(text)
    if not named or not (_OPEN in text or BEGIN in text):
        return _code_cell(text)
    return _code_cell(text, nbgrader=nbgrader_metadata(f"{exercise.id[:4]}-{named[-1]}", solution=True))


def _checking(exercise: Exercise, worth: float | None) -> Cell:
    """Return the cell that checks: locked; its value is the score."""
    points: dict[str, Any] = {} if worth is None else {"points": worth}
    metadata = nbgrader_metadata(f"{exercise.id[:4]}-check", grade=worth is not None, locked=True, **points)
    hide_value = ";" if worth == 0 else ""
    return _code_cell(f'check("{exercise.id[:4]}"){hide_value}', deletable=False, editable=False, nbgrader=metadata)


def nbgrader_metadata(
    grade_id: str, *, grade: bool = False, solution: bool = False, locked: bool = False, **more: object
) -> Cell:
    """Return nbgrader's metadata of a code cell."""
    role = {"grade": grade, "solution": solution, "locked": locked, "task": False}
    return {"schema_version": 3, "grade_id": grade_id, "cell_type": "code", **role, **more}


def _source_lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def handout_of(course: Course) -> Handout:
    """Return the stubs, made from the solutions whatever is in exercises/, and the notebooks in exercises/.

    A kit has no solutions; it keeps a copy of the original files.
    """
    kept = stubs_dir(course)
    if kept.is_dir():
        return Handout({file.name: file.read_bytes() for file in [*sorted(kept.glob("*.py")), *_notebooks(kept)]})
    files: dict[str, bytes] = {}
    for exercise in course.exercises:
        try:
            solution = (course.solutions_dir / exercise.file).read_text("utf-8")
            files[exercise.file] = make_stub(solution, exercise).encode()
        except (OSError, ValueError, StubError):
            continue
    taken = {notebook_of(file) for file in course.files}
    notebooks = [file for file in _notebooks(course.exercises_dir) if file.name in taken]
    return Handout({**files, **{file.name: file.read_bytes() for file in notebooks}})


def _notebooks(folder: Path) -> list[Path]:
    return sorted((folder / NOTEBOOKS).glob("*.ipynb"))
