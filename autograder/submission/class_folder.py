"""The folder or zip of a class: the items directly in it, and the names inside each."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePosixPath

from autograder.submission import moodle
from autograder.submission.archive import list_archive, open_archive, open_for_reading
from autograder.submission.class_entry import Part
from autograder.submission.files import (
    LINK,
    Caps,
    FileError,
    SubmissionError,
    SubmittedFile,
    is_skipped,
    printable,
    printable_name,
)
from autograder.submission.folder import Kind, kind_of, read_plain, reason
from autograder.submission.submission import cut

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

    def part(self, name: str | None = None, rank: int = 0) -> Part:
        """Return the item as a part of a submission; `name` is the one its student gave a single file."""
        if self.files is None:
            return Part(self.path, None, name, rank)
        if self.kind == "folder":
            return Part(self.path, self.files)
        renamed = PurePosixPath(name or self.name)
        label = self.name if name and name != self.name else ""
        return Part(self.path, tuple(replace(file, path=renamed, rank=rank, label=label) for file in self.files))

    def timestamps(self) -> list[bytes]:
        """Return the contents of the timestamp.txt of each folder in this one."""
        return [text for text in map(self._small, self._inside("timestamp.txt")) if text is not None]

    def outline(self) -> "Outline":
        """Return the names in a folder, and in the folders in it."""
        if self.files is not None:
            below: dict[str, list[tuple[str, ...]]] = defaultdict(list)
            for file in self.files:
                below[file.path.parts[0]].append(file.path.parts[1:])
            own = Names.of(file.path.parts for file in self.files)
            return Outline(own, {name: Names.of(below[name]) for name in own.folders})
        own = Names.at(self.path)
        return Outline(own, {name: Names.at(self.path / name) for name in sorted(own.folders)[:_FOLDERS]})

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
        if self.kind != "folder":
            return []
        if self.files is not None:
            return [file for file in self.files if file.depth == 2 and file.path.name == name]
        folders = sorted(Names.at(self.path).folders)[:_FOLDERS]
        return [self.path / folder / name for folder in folders if os.path.lexists(self.path / folder / name)]

    def _small(self, file: SubmittedFile | Path) -> bytes | None:
        try:
            return file.read(_SMALL) if isinstance(file, SubmittedFile) else read_plain(file, _SMALL)
        except FileError:
            return None


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
class Outline:
    """The names in a folder, and in each folder in it."""

    own: Names
    inner: Mapping[str, Names]


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
    if whole and not any(moodle.owners(folder, "folder") for folder in first):
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
