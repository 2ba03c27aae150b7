"""The folder or zip of a class: the submissions and other items in it, their names, and the times of clones."""

import hashlib
import os
import re
import zlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

from autograder.submission import (
    LINK,
    NO_HANDOUT,
    Caps,
    FileError,
    Handout,
    Kind,
    Listing,
    Submission,
    SubmissionError,
    SubmittedFile,
    cut,
    is_skipped,
    kind_of,
    list_archive,
    moved_into,
    named_with_size,
    open_archive,
    open_for_reading,
    open_plain,
    printable,
    printable_name,
    read_listing,
    read_plain,
    reader_of,
    reason,
    too_many_entries,
)

from .roster import YEARS

# The submission of one student in a class, located but not yet read.

_CAPS = Caps()


@dataclass(frozen=True)
class HandInPart:
    """A folder, zip or file with a part of a submission; or `files` that were already found in the zip of a class.

    A single file has the `name` that its student gave it. Of two files with one name, the higher `rank` is later.
    """

    path: Path
    files: tuple[SubmittedFile, ...] | None = None
    name: str | None = None
    rank: int = 0


@dataclass(frozen=True)
class Entry:
    """The submission of one student that counts: its location, and when it was handed in (UTC) if that is known.

    `student` names the report. `notes` are sentences about how the submission was chosen. `accepted` are single files
    that take the place of those with their names, also of a notebook in the place of a module; `decisions` say who
    accepted what, and why. `handed_in_by` names whose hand-in it is, if it is that of a group.
    """

    student: str
    path: Path
    handed_in: datetime | None = None
    notes: tuple[str, ...] = ()
    parts: tuple[HandInPart, ...] = ()
    handout: Handout = NO_HANDOUT
    accepted: tuple[HandInPart, ...] = ()
    decisions: tuple[str, ...] = ()
    handed_in_by: str = ""

    def read(self, files: Sequence[str], caps: Caps) -> Submission:
        """Return the submission. If it cannot be read at all, it has no files, and a note that says why."""
        listing = Listing()
        with ExitStack() as stack:
            for part in self.parts or (HandInPart(self.path),):
                try:
                    listing.add(_list_part(part, caps, stack))
                except SubmissionError as error:  # a report must not contain paths of the grader's machine
                    listing.skip(str(error).replace(printable(part.path), printable(part.path.name)))
                    listing.closed.append(named_with_size(part.name or part.path.name, _size(part.path)))
            for part in self.accepted:
                listing.replace(part.name or "", _list_part(part, caps, stack))
            submission = read_listing(self.student, listing, files, caps, self.handout)
        settled = {f"{PurePosixPath(part.name or '').stem}.py" for part in self.accepted}
        doubts = {file: why for file, why in submission.doubts.items() if file not in settled}
        gone = {*submission.doubts.values()} - {*doubts.values()}
        left = tuple(note for note in submission.notes if note not in gone)
        notes = (*self.decisions, *self.notes, *left)
        return replace(submission, notes=notes, doubts=doubts, handed_in_by=self.handed_in_by)

    def stamp(self) -> str:
        """Return a digest of names, sizes and times of everything to read: if it is equal, nothing has changed.

        It opens no file, follows no link, and visits no more files and folders than reading does.
        """
        own = repr((self.student, self.handed_in, self.notes, self.decisions, self.handed_in_by))
        state = hashlib.sha256(own.encode("utf-8", "surrogatepass"))
        state.update(self.handout.digest.encode())
        for part in (*(self.parts or (HandInPart(self.path),)), *self.accepted):
            inside = [(str(file.path), file.rank, file.label) for file in part.files or ()]
            state.update(repr((str(part.path), part.name, part.rank, inside)).encode("utf-8", "surrogatepass"))
            for line in islice(_stamps(part.path), _CAPS.entries):
                state.update(repr(line).encode("utf-8", "surrogatepass"))
        return state.hexdigest()


def _list_part(part: HandInPart, caps: Caps, stack: ExitStack) -> Listing:
    """Return the files of a part, readable until the stack is closed. Raises `SubmissionError`."""
    if part.files is not None:
        listing = Listing(list(part.files[: caps.entries]))
        if len(part.files) > caps.entries:
            listing.skip(too_many_entries(len(part.files), caps))
        return listing
    if part.name is not None:
        label = part.path.name if part.path.name != part.name else ""
        read = partial(read_plain, part.path)
        file = SubmittedFile(PurePosixPath(part.name), read, part.rank, label, size=_size(part.path))
        if file.path.suffix.lower() != ".zip":
            return Listing([file])
        inside = stack.enter_context(open_archive(part.path, caps))
        inside.files = moved_into(file, inside.files)
        return inside
    try:
        kind = kind_of(part.path)
    except FileError as error:
        raise SubmissionError(f"{printable(part.path)} {error}; check the path") from None
    if kind == "link":
        raise SubmissionError(f"{printable(part.path)} {LINK}")
    reader = reader_of(part.path, kind)
    if reader is None:
        raise SubmissionError(f"{printable(part.path)} is no longer a folder or a zip; check the path")
    return stack.enter_context(reader(part.path, caps))


def _size(path: Path) -> int | None:
    """Return the size of a plain file; None for anything else."""
    try:
        return path.lstat().st_size if kind_of(path) == "file" else None
    except (FileError, OSError):
        return None


def _stamps(path: Path) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield name, mode, size and times (ns) of a file, or of everything below a folder except hidden folders."""
    yield _stamp(".", path.lstat)
    level = [(str(path), "")]
    for _ in range(_CAPS.depth + 1):
        below: list[tuple[str, str]] = []
        for folder, inside in level:
            try:
                if kind_of(Path(folder)) != "folder":
                    continue
                with os.scandir(folder) as entries:
                    in_order = sorted(islice(entries, _CAPS.entries), key=lambda entry: entry.name)
            except (FileError, OSError):
                continue
            for entry in in_order:
                yield _stamp(inside + entry.name, partial(entry.stat, follow_symlinks=False))
                if entry.is_dir(follow_symlinks=False) and not is_skipped(entry.name):
                    below.append((entry.path, f"{inside}{entry.name}/"))
        level = below


def _stamp(name: str, stat: Callable[[], os.stat_result]) -> tuple[str, int, int, int, int]:
    try:
        status = stat()
    except (OSError, ValueError):
        return (name, -1, -1, -1, -1)
    return (
        name,
        status.st_mode,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,  # a download unpacked again may have the same sizes and modification times
    )


# Read the owner of a file from its name in a download of Canvas, whose files are flat.
#
# A file is `lovelaceada_LATE_123_4567_name-1.py`: the sortable name without its punctuation, LATE, user id,
# attachment id, and the file's name, to which Canvas adds `-1` if the student has another file of that name. A text
# or a link is `lovelaceada_123_text.html` or `_link.html`. Anonymous files begin with `anon_aB3dE` instead of name
# and id. See add_upload_submission, get_filename and sanitize_user_name in https://github.com/instructure/canvas-
# lms/blob/master/lib/content_zipper.rb
#
# Students choose their names, and Canvas removes punctuation only after it has looked for `_12_` in them. So a name
# can still end with `_12`, or contain `_12_34_`. A file whose name can be read in two ways is attributed to nobody.

_NUMBERS = re.compile(r"(?=_(?P<late>LATE_)?(?P<user>\d+)_(?P<file>\d+)_(?P<rest>.+))", re.DOTALL)
_ANONYMOUS = re.compile(r"(?P<late>LATE_)?(?P<user>anon_[A-Za-z0-9]+)_(?P<file>\d+)_(?P<rest>.+)", re.DOTALL)
_TEXT = re.compile(r"(?P<name>.*?)_(?P<late>LATE_)?(?P<user>\d+)_(?:text|link)\.html", re.DOTALL)
_ANONYMOUS_TEXT = re.compile(r"(?P<late>LATE_)?(?P<user>anon_[A-Za-z0-9]+)_(?:text|link)\.html")
_DIGITS = 18
"""Digits of the longest id; a longer number is cut, since int() refuses to read thousands of digits."""


@dataclass(frozen=True)
class Upload:
    """One way to read a file's name. `file` is the attachment's id, which grows with time; a text has no `rest`."""

    user: str
    name: str | None
    late: bool
    file: int = 0
    rest: str = ""


def canvas_uploads(name: str) -> tuple[Upload, ...]:
    """Return the ways in which the name of a file can be read, none if Canvas makes no such name."""
    if match := _ANONYMOUS_TEXT.fullmatch(name):
        return (Upload(match["user"], None, bool(match["late"])),)
    readings: dict[tuple[str, int], Upload] = {}
    for numbers in _NUMBERS.finditer(name):
        user, late = numbers["user"], bool(numbers["late"])
        upload = Upload(user, name[: numbers.start()], late, _number(numbers), numbers["rest"])
        readings.setdefault((upload.user, upload.file), upload)
    if match := _ANONYMOUS.fullmatch(name):
        readings.pop((match["user"].removeprefix("anon_"), _number(match)), None)
        anonymous = Upload(match["user"], None, bool(match["late"]), _number(match), match["rest"])
        readings = {(anonymous.user, anonymous.file): anonymous, **readings}
    if not readings and (match := _TEXT.fullmatch(name)):
        return (Upload(match["user"], match["name"], bool(match["late"])),)
    return tuple(readings.values())


def _number(match: re.Match[str]) -> int:
    return int(match["file"][:_DIGITS])


# Read the owner of a folder or a flat file from its name in a download of Moodle.
#
# A folder is `NAME_ID_assignsubmission_PLUGIN` (up to 4.0 with `_` at the end); a flat file has that before its own
# name. A team has the name of the group; the default team has no ID. See get_student_prefix in
# https://github.com/moodle/moodle/blob/main/public/mod/assign/classes/downloader.php
#
# Students choose their own names and those of their files, so either may look like the prefix of another student. In
# a folder's name, the last marker is Moodle's own. In a flat file's name, it is the one before the file's name. If
# there are several, nobody can know which one that is, so the file is attributed to nobody.

_MARK = re.compile(r"_assignsubmission_(?P<plugin>[a-z]+)(?=_|\Z)")
_OWNER = re.compile(r"(?P<name>.*?)(?:_(?P<id>\d+))?", re.DOTALL)


@dataclass(frozen=True)
class MoodleOwner:
    """The owner of a folder or file: the prefix of its name, with the participant's name and number in it.

    `plugin` is `file` for files and `onlinetext` for texts. `rest` is the student's name for a flat file.
    """

    label: str
    name: str
    id: str | None
    plugin: str
    rest: str


def owners(name: str, kind: Kind) -> tuple[MoodleOwner, ...]:
    """Return the possible owners of a folder or a flat file: one, none, or several if the name is ambiguous."""
    marks = list(_MARK.finditer(name))
    if kind == "folder":
        marks = [mark for mark in marks[-1:] if name[mark.end() :] in ("", "_")]
    else:
        marks = [mark for mark in marks if kind == "file" and name[mark.end() :].strip("_")]
    return tuple(owner for mark in marks if (owner := _owner(name, mark)) is not None)


def _owner(name: str, mark: re.Match[str]) -> MoodleOwner | None:
    label = name[: mark.start()]
    match = _OWNER.fullmatch(label)
    if not label or match is None:
        return None
    return MoodleOwner(label, match["name"], match["id"], mark["plugin"], name[mark.end() + 1 :])


CLASS = Caps(entries=200_000, depth=12)
"""The limits for a zip of a whole class, which has more entries than one submission."""

WORK = frozenset({".zip", ".py", ".ipynb", ".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".xz"})
"""File name endings of possible work. The kit reads only the first three; the others become problems, not notes."""

_SMALL = 4096
_COMPARED = 16 << 20
_FOLDERS = 1000


@dataclass(frozen=True)
class Item:
    """An item directly in the folder or zip of a class; `files` are the files of an item in a zip."""

    name: str
    kind: Kind
    path: Path
    files: tuple[SubmittedFile, ...] | None = None

    @property
    def is_zip(self) -> bool:
        """Return whether the entry is a zip."""
        return self.kind == "file" and self.name.lower().endswith(".zip")

    @property
    def is_loose(self) -> bool:
        """Whether it is a single file, which no layout without names of its own can attribute."""
        return self.kind == "file" and not self.is_zip

    def part(self, name: str | None = None, rank: int = 0) -> HandInPart:
        """Return the item as a part of a submission; `name` is the one its student gave a single file."""
        if self.files is None:
            return HandInPart(self.path, None, name, rank)
        if self.kind == "folder":
            return HandInPart(self.path, self.files)
        renamed = PurePosixPath(name or self.name)
        label = self.name if name and name != self.name else ""
        return HandInPart(self.path, tuple(replace(file, path=renamed, rank=rank, label=label) for file in self.files))

    def timestamps(self) -> list[bytes]:
        """Return the contents of the timestamp.txt of each folder in this one."""
        found = []
        for file in self._inside("timestamp.txt"):
            with suppress(FileError):
                found.append(file.read(_SMALL) if isinstance(file, SubmittedFile) else read_plain(file, _SMALL))
        return found

    def outline(self) -> tuple["Names", Mapping[str, "Names"]]:
        """Return the names in a folder, and in each folder in it."""
        if self.files is not None:
            below: dict[str, list[tuple[str, ...]]] = defaultdict(list)
            for file in self.files:
                below[file.path.parts[0]].append(file.path.parts[1:])
            own = Names.of(file.path.parts for file in self.files)
            return own, {name: Names.of(below[name]) for name in own.folders}
        own = Names.at(self.path)
        return own, {name: Names.at(self.path / name) for name in sorted(own.folders)[:_FOLDERS]}

    def holds_copy_of(self, names: frozenset[str]) -> bool:
        """Say whether this is a zip with no other names than these: the download from which they were unpacked."""
        if not self.is_zip or self.files is not None:
            return False
        try:
            with open_archive(self.path, CLASS) as listing:
                inside = {file.path.parts[0] for file in listing.files if file.path.parts}
        except SubmissionError:
            return False
        return bool(inside) and {name for name in inside if not is_skipped(name)} <= names

    def other_contents(self) -> list[str]:
        """Return the names at the top of this zip whose files differ from the files of the same names beside it."""
        try:
            with open_archive(self.path, CLASS) as listing:
                files = [file for file in listing.files if file.path.parts and not is_skipped(file.path.parts[0])]
                return sorted({file.path.parts[0] for file in files if not _same_content(self.path.parent, file)})
        except SubmissionError:
            return []

    def _inside(self, name: str) -> list[SubmittedFile | Path]:
        if self.files is not None:
            return [file for file in self.files if file.depth == 2 and file.path.name == name]
        folders = sorted(Names.at(self.path).folders)[:_FOLDERS]
        return [self.path / folder / name for folder in folders if os.path.lexists(self.path / folder / name)]


def _same_content(folder: Path, file: SubmittedFile) -> bool:
    """Say whether a file of a zip is in a folder with the same bytes; of a very large one only the size is compared."""
    beside = folder / file.path
    try:
        if kind_of(beside) != "file" or beside.lstat().st_size != file.size:
            return False
        return file.size > _COMPARED or file.read(_COMPARED) == read_plain(beside, _COMPARED)
    except (FileError, OSError):
        return False


def may_be_work(item: Item) -> bool:
    """Say whether a student's work may be in an item: it is a folder, or a file with one of some endings."""
    return item.kind == "folder" or (item.kind == "file" and is_work(item.name))


def is_work(name: str) -> bool:
    """Say whether a file with this name may hold a student's work."""
    return "." in name and name[name.rfind(".") :].lower() in WORK


@dataclass(frozen=True)
class Names:
    """The names of the files and folders in a folder, without hidden folders and caches."""

    files: frozenset[str]
    folders: frozenset[str]

    @classmethod
    def at(cls, path: Path) -> "Names":
        """Return the names in a folder on disk, none if it cannot be listed."""
        try:
            with os.scandir(path) as entries:
                names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in islice(entries, _FOLDERS)]
        except OSError:
            names = []
        files = frozenset(name for name, is_folder in names if not is_folder)
        return cls(files, frozenset(name for name, is_folder in names if is_folder and not is_skipped(name)))

    @classmethod
    def of(cls, paths: Iterable[tuple[str, ...]]) -> "Names":
        """Return the names in a folder of a zip, from the paths of all files below it."""
        nonempty = [path for path in paths if path]
        files = frozenset(path[0] for path in nonempty if len(path) == 1)
        return cls(files, frozenset(path[0] for path in nonempty if len(path) > 1 and not is_skipped(path[0])))


@dataclass(frozen=True)
class ClassFolder:
    """The folder or zip of a class: the items that may be submissions, with problems and notes about the rest."""

    path: Path
    name: str
    items: tuple[Item, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]


def open_class_folder(path: Path, wanted: frozenset[str]) -> ClassFolder:
    """Return the items of a folder or zip, without hidden ones. Raises `SubmissionError` if it is neither.

    A zip with a single folder stands for that folder, unless the folder has `wanted` files and so is one submission.
    A zip stays open as long as somebody may read from it.
    """
    if path.suffix.lower() == ".zip" and not path.is_dir():
        return _of_zip(path, wanted)
    try:
        names = sorted(name for name in os.listdir(path) if not is_skipped(name))  # noqa: PTH208
    except (OSError, ValueError) as error:
        raise SubmissionError(
            f"{printable(path)} cannot be read ({reason(error)}); expected a folder of submissions: check the path"
        ) from None
    items: list[Item] = []
    problems: list[str] = []
    for name in names:
        try:
            kind = kind_of(path / name)
        except FileError as error:
            problems.append(f"{printable_name(name)} {error}; check its permissions")
            continue
        if kind == "link":
            problems.append(f"{printable_name(name)} {LINK}")
        else:
            items.append(Item(name, kind, path / name))
    return ClassFolder(path, path.resolve().name, tuple(items), tuple(problems), ())


def _of_zip(path: Path, wanted: frozenset[str]) -> ClassFolder:
    listing = list_archive(path, open_for_reading(path, CLASS), CLASS)
    outside = [file for file in listing.files if file.refused and not _is_inside(file.path)]
    inside = (file for file in listing.files if not file.refused or _is_inside(file.path))
    files: Sequence[SubmittedFile] = [file for file in inside if not file.path.parts[0].startswith(".")]
    if listing.unseen:
        raise SubmissionError(_too_many(path, files))
    notes = [*listing.notes, *(f"{file.display_name} {file.refused}" for file in outside)]
    name = path.stem
    first = {file.path.parts[0] for file in files if file.depth > 1}
    whole = len(first) == 1 and not any(file.depth == 1 or file.path.parts[1] in wanted for file in files)
    if whole and not any(owners(folder, "folder") for folder in first):
        [name] = first  # the class was packed together with its folder
        files = [_without_first(file) for file in files]
    problems = tuple(f"{file.display_name} {file.refused}" for file in files if file.depth == 1 and file.refused)
    return ClassFolder(path, name, _items_of(path, files), problems, cut(notes))


def _items_of(path: Path, files: Sequence[SubmittedFile]) -> tuple[Item, ...]:
    """Return the items at the top of a zip, by name: its files, and its folders with the files below them."""
    folders: dict[str, list[SubmittedFile]] = defaultdict(list)
    items = []
    for file in files:
        if file.depth > 1:
            folders[file.path.parts[0]].append(_without_first(file))
        elif not file.refused:
            items.append(Item(file.path.name, "file", path, (file,)))
    items += [Item(folder, "folder", path, tuple(inside)) for folder, inside in folders.items()]
    return tuple(sorted(items, key=lambda item: item.name))


def _is_inside(path: PurePosixPath) -> bool:
    """Say whether a name in a zip leads to a path in it, and so belongs to the folder it begins with."""
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and ":" not in path.parts[0]


def _too_many(path: Path, files: Sequence[SubmittedFile]) -> str:
    """Return the message for a zip that is too large: if it were read in part, its last students would be missing."""
    [(name, count)] = Counter(file.path.parts[0] for file in files).most_common(1) or [("?", 0)]
    most = f"{count:,} of the first {CLASS.entries:,} belong to {printable_name(name)}"
    return f"{printable(path)} has more than {CLASS.entries:,} entries; {most}. Unpack it and give the folder"


def _without_first(file: SubmittedFile) -> SubmittedFile:
    return replace(file, path=PurePosixPath(*file.path.parts[1:]))


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
