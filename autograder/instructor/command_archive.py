"""Put a term into one file, and prove that it can be read back.

The zip has the course with its roster, decisions and secret seed, and the folders that you name. Its manifest.json has
the SHA-256 of each file. Every file is read back from the zip before the command ends.
"""

import argparse
import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder import __version__
from autograder.cli import CommandParser, say, warn
from autograder.course import FOLDER, Course, UsageError, find_course, read_course, refuse_kit
from autograder.ending import GRADER, PASS
from autograder.report import plural
from autograder.submission import printable

MANIFEST = "manifest.json"
PART = ".part"
"""The suffix of a file that is being written."""

SKIPPED = frozenset({FOLDER, ".git", ".venv", "__pycache__", ".pytest_cache", ".ipynb_checkpoints", "build"})
"""Folders of a course that can be made again."""

CACHES = frozenset({"index.sqlite", "lock"})
"""Files of a folder of grades that can be made again."""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add("folders", type=Path, nargs="*", metavar="OUT", help="folders to keep: grades, hand-ins")
    add("file", type=Path, metavar="FILE", help="the zip to write; with --check the one to read")
    add("--check", action="store_true", help="read an archive back, compare every file, and write nothing")
    add("--course", type=Path, metavar="DIR", help="the course (default: the one you are in)")


def run(options: argparse.Namespace) -> int:
    """Run the command. Raises `UsageError` before anything is written, and OSError."""
    file: Path = options.file
    if options.check:
        if options.folders:
            raise UsageError("--check reads one archive; write course archive --check FILE")
        return _show(file, _damage(file))
    course = read_course(find_course(options.course))
    refuse_kit(course, "archive")
    folders = _folders(options.folders, file)
    if file.exists():
        raise UsageError(f"{printable(file)} is there already, and an archive replaces no file; choose another name")
    part = file.with_name(file.name + PART)
    try:
        links = _write(part, course, folders)
        damage = _damage(part)
        if not damage:
            part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    if links:
        warn(f"{plural(len(links), 'link')} left out, since links are not followed: {printable(links[0])}")
    return _show(file, damage)


def _show(file: Path, damage: list[str]) -> int:
    for sentence in damage:
        warn(sentence)
    if damage:
        warn(f"{printable(file)} cannot be read back whole; make it again from the folders")
        return GRADER
    with zipfile.ZipFile(file) as archive:
        about = json.loads(archive.read(MANIFEST))
    count = plural(len(about["files"]), "file")
    say(f"{printable(file)} has {count}, all read back with the same SHA-256; written by engine {about['engine']}")
    say("It holds students' work, the decisions about them and the secret seed: keep it where only you can read it")
    return PASS


def _folders(folders: Iterable[Path], file: Path) -> dict[str, Path]:
    """Return the folders by their names in the archive. Raises `UsageError`."""
    named: dict[str, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            found = "is a file" if folder.exists() else "is not there"
            raise UsageError(f"{printable(folder)} {found}, expected a folder; write course archive OUT… FILE")
        if file.resolve().is_relative_to(folder.resolve()):
            raise UsageError(f"{printable(file)} would be inside {printable(folder)}; choose another place")
        name = folder.resolve().name
        if name in named:
            raise UsageError(f"{printable(folder)} and {printable(named[name])} have one name; name their folder")
        named[name] = folder
    return named


def _write(part: Path, course: Course, folders: dict[str, Path]) -> list[Path]:
    """Write the archive, and return the links that were left out. Raises OSError."""
    digests: dict[str, str] = {}
    links: list[Path] = []
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, source in _files(course, folders):
            if source.resolve() == part.resolve():
                continue
            if source.is_symlink():
                links.append(source)
                continue
            data = source.read_bytes()
            archive.writestr(name, data)
            digests[name] = hashlib.sha256(data).hexdigest()
        archive.writestr(MANIFEST, json.dumps({"engine": __version__, "files": digests}, indent=1) + "\n")
    return links


def _files(course: Course, folders: dict[str, Path]) -> Iterator[tuple[str, Path]]:
    """Yield each file of the archive with its name there."""
    named = [folder.resolve() for folder in folders.values()]
    for file in _below(course.root, SKIPPED):
        if not any(file.resolve().is_relative_to(folder) for folder in named):
            yield f"course/{file.relative_to(course.root).as_posix()}", file
    if (seed := course.root / FOLDER / "grading_seed").is_file():
        yield f"course/{FOLDER}/grading_seed", seed
    for name, folder in folders.items():
        for file in _below(folder, frozenset()):
            if file.name not in CACHES:
                yield f"folders/{name}/{file.relative_to(folder).as_posix()}", file


def _below(folder: Path, skipped: frozenset[str]) -> Iterator[Path]:
    """Yield the files and links below a folder in order, without the skipped folders at its top; follow no link."""
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.is_file():
            yield path
        elif path.is_dir() and path.name not in skipped and path.name != "__pycache__":
            yield from _below(path, frozenset())


def _damage(file: Path) -> list[str]:
    """Return what differs between an archive and its manifest, a sentence each; nothing if all is whole."""
    try:
        with zipfile.ZipFile(file) as archive:
            wanted = json.loads(archive.read(MANIFEST))["files"]
            names = [name for name in archive.namelist() if name != MANIFEST]
            damage = [f"{printable(name)} is not in the archive" for name in wanted if name not in names]
            damage += [f"{printable(name)} is not in the manifest" for name in names if name not in wanted]
            for name in names:
                try:
                    digest = hashlib.sha256(archive.read(name)).hexdigest()
                except (OSError, EOFError, zipfile.BadZipFile, ValueError) as error:
                    digest = f"unreadable ({error})"
                if name in wanted and digest != wanted[name]:
                    damage.append(f"{printable(name)} is damaged, expected SHA-256 {wanted[name]}, found {digest}")
            return damage
    except FileNotFoundError:
        raise UsageError(f"{printable(file)} is not there, expected an archive; check the path") from None
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
        return [f"{printable(file)} is no archive of course archive ({error})"]
