"""What lies directly in a folder or a zip of submissions."""

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePosixPath

from autograder.submission.archive import list_archive, open_for_reading
from autograder.submission.entry import Part
from autograder.submission.folder import Kind, kind_of, read_plain, reason
from autograder.submission.found import LINK, Caps, FileError, Found, SubmissionError, printable, shown, skipped

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

    def _inside(self, name: str) -> list[Found | Path]:
        if self.kind != "folder":
            return []
        if self.files is not None:
            return [each for each in self.files if each.depth == 2 and each.path.name == name]
        try:
            with os.scandir(self.path) as entries:
                folders = [Path(each.path) for each in islice(entries, _FOLDERS) if each.is_dir(follow_symlinks=False)]
        except OSError:
            return []
        return [folder / name for folder in sorted(folders) if os.path.lexists(folder / name)]

    def _small(self, file: Found | Path) -> bytes | None:
        try:
            return file.read(_SMALL) if isinstance(file, Found) else read_plain(file, _SMALL)
        except FileError:
            return None


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
    files: Sequence[Found] = [each for each in listing.files if not each.path.parts[0].startswith(".")]
    name = path.stem
    first = {each.path.parts[0] for each in files if each.depth > 1}
    if len(first) == 1 and not any(each.depth == 1 or each.path.parts[1] in wanted for each in files):
        [name] = first  # the whole class was packed with its folder
        files = [_without_first(each) for each in files]
    folders: dict[str, list[Found]] = defaultdict(list)
    items = []
    for each in files:
        if each.depth == 1:
            items.append(Item(each.path.name, "file", path, (each,)))
        else:
            folders[each.path.parts[0]].append(_without_first(each))
    items += [Item(folder, "folder", path, tuple(inside)) for folder, inside in folders.items()]
    return Top(path, name, tuple(sorted(items, key=lambda item: item.name)), (), tuple(listing.notes))


def _without_first(file: Found) -> Found:
    return replace(file, path=PurePosixPath(*file.path.parts[1:]))
