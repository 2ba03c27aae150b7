"""What lies directly in a folder or a zip of submissions."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePosixPath

from autograder.submission import moodle
from autograder.submission.archive import list_archive, open_archive, open_for_reading
from autograder.submission.entry import Part
from autograder.submission.folder import Kind, kind_of, read_plain, reason
from autograder.submission.found import LINK, Caps, FileError, Found, SubmissionError, printable, shown, skipped
from autograder.submission.submission import cut

CLASS = Caps(entries=200_000, depth=12)
"""A zip of a whole class has more in it than one submission."""

_SMALL = 4096
_FOLDERS = 1000


@dataclass(frozen=True)
class Item:
    """Something directly in a folder or a zip of submissions; `files` are what a folder of a zip holds."""

    name: str
    kind: Kind
    path: Path
    files: tuple[Found, ...] | None = None

    def part(self, name: str | None = None, rank: int = 0) -> Part:
        """Return it as a part of a submission; a file that is no zip of its own goes by the name it should have."""
        if self.files is None:
            return Part(self.path, None, name, rank)
        if self.kind == "folder":
            return Part(self.path, self.files)
        renamed = PurePosixPath(name or self.name)
        label = self.name if name and name != self.name else ""
        return Part(self.path, tuple(replace(each, path=renamed, rank=rank, label=label) for each in self.files))

    def timestamps(self) -> list[bytes]:
        """Return what stands in the timestamp.txt of each folder in this one."""
        return [text for text in map(self._small, self._inside("timestamp.txt")) if text is not None]

    def outline(self) -> "Outline":
        """Return the names in a folder, and in the folders in it."""
        if self.files is not None:
            below: dict[str, list[tuple[str, ...]]] = defaultdict(list)
            for each in self.files:
                below[each.path.parts[0]].append(each.path.parts[1:])
            own = Names.of(each.path.parts for each in self.files)
            return Outline(own, {name: Names.of(below[name]) for name in own.folders})
        own = Names.at(self.path)
        return Outline(own, {name: Names.at(self.path / name) for name in sorted(own.folders)[:_FOLDERS]})

    def holds_copy_of(self, names: frozenset[str]) -> bool:
        """Say whether this is a zip in which nothing lies but what has these names: a download that was unpacked."""
        if self.kind != "file" or self.files is not None or not self.name.lower().endswith(".zip"):
            return False
        try:
            with open_archive(self.path, CLASS) as listing:
                inside = {each.path.parts[0] for each in listing.files if each.path.parts}
        except SubmissionError:
            return False
        return bool(inside) and {name for name in inside if not skipped(name)} <= names

    def _inside(self, name: str) -> list[Found | Path]:
        if self.kind != "folder":
            return []
        if self.files is not None:
            return [each for each in self.files if each.depth == 2 and each.path.name == name]
        folders = sorted(Names.at(self.path).folders)[:_FOLDERS]
        return [self.path / folder / name for folder in folders if os.path.lexists(self.path / folder / name)]

    def _small(self, file: Found | Path) -> bytes | None:
        try:
            return file.read(_SMALL) if isinstance(file, Found) else read_plain(file, _SMALL)
        except FileError:
            return None


@dataclass(frozen=True)
class Names:
    """The names of the files and of the folders in a folder, hidden folders and caches left out."""

    files: frozenset[str]
    folders: frozenset[str]

    @classmethod
    def at(cls, path: Path) -> "Names":
        """Return those of a folder on disk: none where it cannot be listed."""
        try:
            with os.scandir(path) as entries:
                each_one = [(each.name, each.is_dir(follow_symlinks=False)) for each in islice(entries, _FOLDERS)]
        except OSError:
            each_one = []
        files = frozenset(name for name, is_folder in each_one if not is_folder)
        return cls(files, frozenset(name for name, is_folder in each_one if is_folder and not skipped(name)))

    @classmethod
    def of(cls, paths: Iterable[tuple[str, ...]]) -> "Names":
        """Return those of a folder in a zip, by the paths of the files in it and below."""
        each_one = [path for path in paths if path]
        files = frozenset(path[0] for path in each_one if len(path) == 1)
        return cls(files, frozenset(path[0] for path in each_one if len(path) > 1))


@dataclass(frozen=True)
class Outline:
    """The names in a folder, and in each folder in it."""

    own: Names
    inner: Mapping[str, Names]


@dataclass(frozen=True)
class Top:
    """The folder or zip of a class, called `name`: what can be a submission, and what cannot, in sentences."""

    path: Path
    name: str
    items: tuple[Item, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]


def open_top(path: Path, wanted: frozenset[str]) -> Top:
    """Return what lies in a folder or zip, hidden things left out. Raises `SubmissionError` where it is neither.

    A zip in which all lies in one folder is that folder, unless it holds `wanted` files, and so is one submission.

    A zip stays open as long as somebody may read from it.
    """
    if path.suffix.lower() == ".zip" and not path.is_dir():
        return _of_zip(path, wanted)
    try:
        names = sorted(name for name in os.listdir(path) if not skipped(name))  # noqa: PTH208
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
            problems.append(f"{shown(name)} {error}; check its permissions")
            continue
        if kind == "link":
            problems.append(f"{shown(name)} {LINK}")
        else:
            items.append(Item(name, kind, path / name))
    return Top(path, path.resolve().name, tuple(items), tuple(problems), ())


def _of_zip(path: Path, wanted: frozenset[str]) -> Top:
    listing = list_archive(path, open_for_reading(path, CLASS), CLASS)
    astray = [each for each in listing.files if each.refused and not _is_inside(each.path)]
    inside = (each for each in listing.files if not each.refused or _is_inside(each.path))
    files: Sequence[Found] = [each for each in inside if not each.path.parts[0].startswith(".")]
    if listing.unseen:
        raise SubmissionError(_too_many(path, files))
    notes = [*listing.notes, *(f"{each.told} {each.refused}" for each in astray)]
    name = path.stem
    first = {each.path.parts[0] for each in files if each.depth > 1}
    whole = len(first) == 1 and not any(each.depth == 1 or each.path.parts[1] in wanted for each in files)
    if whole and not any(map(moodle.owner, first)):
        [name] = first  # the whole class was packed with its folder
        files = [_without_first(each) for each in files]
    folders: dict[str, list[Found]] = defaultdict(list)
    items = []
    for each in files:
        if each.depth > 1:
            folders[each.path.parts[0]].append(_without_first(each))
        elif not each.refused:
            items.append(Item(each.path.name, "file", path, (each,)))
    items += [Item(folder, "folder", path, tuple(inside)) for folder, inside in folders.items()]
    problems = tuple(f"{each.told} {each.refused}" for each in files if each.depth == 1 and each.refused)
    return Top(path, name, tuple(sorted(items, key=lambda item: item.name)), problems, cut(notes))


def _is_inside(path: PurePosixPath) -> bool:
    """Say whether a name in a zip leads to a place in it, and so belongs to the folder it begins with."""
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and ":" not in path.parts[0]


def _too_many(path: Path, files: Sequence[Found]) -> str:
    """Say that a zip of a class is too large: read in part, its last students would seem to have handed in nothing."""
    [(name, count)] = Counter(each.path.parts[0] for each in files).most_common(1) or [("?", 0)]
    most = f"{count:,} of the first {CLASS.entries:,} are of {shown(name)}"
    return f"{printable(path)} has more than {CLASS.entries:,} entries; {most}: unpack it and give the folder"


def _without_first(file: Found) -> Found:
    return replace(file, path=PurePosixPath(*file.path.parts[1:]))
