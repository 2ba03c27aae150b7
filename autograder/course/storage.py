"""The folder `.course` of a course: its layout, and how files are read, written and locked.

A course may come from somebody else, so nothing in `.course` is opened through a link, waited for, or read without a
limit. The folders above it may be links.
"""

import contextlib
import errno
import json
import os
import re
import shlex
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn

from autograder import ending
from autograder.formats import Unreadable, read_json

FOLDER = ".course"
LONGEST_WAIT = 5.0
"""Seconds to wait for a lock. The kit holds one for milliseconds, so a longer holder was suspended."""

LOCAL_ONLY = ("/cache/", "/last/", "/backups/", "/play/", "/grading_seed", "/roster", "/lock", "/brief", ".*")
"""Paths that git ignores: they can be made again, or hold a student's code. Progress and events may be committed."""

MOST_BYTES = 16 << 20
"""The kit writes no larger file, apart from answer keys and checkpoints."""

DAMAGED = ".damaged"
"""The ending of a copy of a file that could not be read, before it was replaced."""

TEMPORARY = re.compile(r"\.(.{1,40})-[0-9a-f]{12}")
"""The name of a file that is written before it replaces another, with the beginning of the other's name."""

notes: dict[str, bool] = {}
"""What was refused, set aside or chosen before in this process, as sentences, and whether the user has seen each."""

_PLAIN = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_HAS_DESCRIPTORS = {os.open, os.mkdir, os.stat, os.unlink, os.rename} <= os.supports_dir_fd
_ENTER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_REPARSE = 0x400  # Windows: a link, or a folder that is one


def state_folder(root: Path, *inside: str) -> Path:
    """Return `.course`, or a folder inside it; create it if missing. Raises OSError, also for a link."""
    folder = root.joinpath(FOLDER, *inside)
    make_folder(folder)
    ignore = root / FOLDER / ".gitignore"
    with contextlib.suppress(OSError):
        if not exists(ignore):
            write_atomically(ignore, "".join(f"{pattern}\n" for pattern in (*LOCAL_ONLY, "!/.gitignore")))
    return folder


def make_folder(folder: Path, *, below: Path | None = None) -> None:
    """Make a folder, if it is missing. Raises OSError, also for a link in or below `.course`, or below `below`."""
    below = below or _unlinked_below(folder)
    if below is None:
        folder.mkdir(parents=True, exist_ok=True)
    else:
        with _entered(folder, below, make=True):
            pass


def open_plain(file: Path, flags: int = os.O_RDONLY, *, below: Path | None = None) -> int:
    """Open a plain file and return its descriptor. Raises OSError for a folder, a pipe or a device, without waiting.

    No link is followed in `.course`, or below the folder `below`. Elsewhere the file may be a link to a plain file.
    """
    is_own = below is not None or _unlinked_below(file.parent) is not None
    with _located(file if is_own else Path(os.path.realpath(file)), below) as (folder, name):
        try:
            descriptor = os.open(name, flags | _PLAIN, 0o644, dir_fd=folder)
        except OSError as error:
            _refuse(file, _problem(name, folder) or error)
        kind = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(kind):
            os.close(descriptor)
            _refuse(file, OSError(errno.EISDIR, os.strerror(errno.EISDIR)) if stat.S_ISDIR(kind) else _NOT_PLAIN)
        return descriptor


def read_plain(file: Path, limit: int = MOST_BYTES, *, below: Path | None = None) -> bytes:
    """Return the bytes of a plain file, as `open_plain` opens it. Raises OSError, also if it is larger than `limit`."""
    with os.fdopen(open_plain(file, below=below), "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        data = stream.read(limit + 1) if size <= limit else b""  # it may grow meanwhile
    if max(size, len(data)) > limit:
        _refuse(file, f"it has more than {limit >> 20} MiB, so it was not read; move it away")
    return data


def read_text(file: Path, limit: int = MOST_BYTES, *, below: Path | None = None) -> str:
    """Return the text of a plain file, with `\\n` as the end of each line. Raises OSError and ValueError."""
    return read_plain(file, limit, below=below).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def exists(file: Path) -> bool:
    """Say whether there is anything by that name, a broken link included. Raises OSError."""
    try:
        with _located(file, None) as (folder, name):
            os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def remove(file: Path) -> None:
    """Delete a file, or a link itself, if there is one. Raises OSError."""
    with contextlib.suppress(FileNotFoundError), _located(file, None) as (folder, name):
        os.unlink(name, dir_fd=folder)


def set_aside(file: Path) -> None:
    """Keep a copy of a file that cannot be read, before it is replaced. Raises OSError."""
    with contextlib.suppress(FileNotFoundError), _located(file, None) as (folder, name):
        if problem := _problem(name, folder):
            _refuse(file, problem)
        os.replace(name, f"{name}{DAMAGED}", src_dir_fd=folder, dst_dir_fd=folder)
        note(f"{file} could not be read; it is now {file.name}{DAMAGED}, and a new file takes its place")


def write_atomically(
    file: Path, content: str | bytes, *, durable: bool = False, mode: int = 0o644, below: Path | None = None
) -> None:
    """Write a file atomically. Raises OSError.

    With `durable` it is on the disk before it replaces the old file, so that one of the two survives a power failure.
    """
    with replacing(file, mode, below=below) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)
        if durable:
            stream.flush()
            os.fsync(stream.fileno())


@contextlib.contextmanager
def replacing(file: Path, mode: int = 0o644, *, below: Path | None = None) -> Iterator[BinaryIO]:
    """Yield a temporary file that replaces a file after the block: no reader ever sees a part of it. Raises OSError.

    It never has wider permissions than `mode`. In `.course` and below `below` it replaces nothing but a plain file.
    """
    with _located(file, below) as (folder, name):
        if (below is not None or FOLDER in file.parts) and (problem := _problem(name, folder)):
            _refuse(file, problem)
        try:
            beside = f".{file.name[:40]}-{os.urandom(6).hex()}"
            temporary = beside if folder is not None else str(file.with_name(beside))
            descriptor = -1

            def make() -> Path:
                nonlocal descriptor
                descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | _PLAIN, 0o600, dir_fd=folder)
                return file.with_name(beside)

            with ending.temporary(make) as path:
                with os.fdopen(descriptor, "wb") as stream:
                    yield stream
                    if folder is not None:
                        os.fchmod(stream.fileno(), mode)
                if folder is None:
                    path.chmod(mode)
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError as error:
            raise _with_path(error, file, beside) from None


@contextlib.contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Keep other processes of the kit out of the folder within the block, if the file system supports locks.

    After `LONGEST_WAIT` it continues without the lock.
    """
    with os.fdopen(open_plain(folder / "lock", os.O_RDWR | os.O_CREAT), "r+b") as stream:
        until = time.monotonic() + LONGEST_WAIT
        while not try_lock(stream.fileno()) and time.monotonic() < until:
            time.sleep(0.01)
        yield  # closing the file releases the lock, and so does the end of the process


_LINK = "it is a link, and links are not followed here; delete the link"
_NOT_PLAIN = "it is not a plain file; move it away"
_NO_FOLDER = "it is not a folder; move it away"


def _unlinked_below(folder: Path) -> Path | None:
    """Return the folder of the nearest `.course` that a folder is or is in, if there is one."""
    found = [at for at, part in enumerate(folder.parts) if part == FOLDER]
    return Path(*folder.parts[: found[-1]]) if found else None


@contextlib.contextmanager
def _located(file: Path, below: Path | None) -> Iterator[tuple[int | None, str]]:
    """Yield the descriptor of a file's folder and its name in it; without descriptors, None and its path."""
    with _entered(file.parent, below or _unlinked_below(file.parent) or file.parent) as folder:
        yield folder, file.name if folder is not None else str(file)


@contextlib.contextmanager
def _entered(folder: Path, below: Path, *, make: bool = False) -> Iterator[int | None]:
    """Yield the descriptor of a folder that is reached without a link from `below` on; None without descriptors."""
    descriptor = os.open(below, _ENTER) if _HAS_DESCRIPTORS else None
    try:
        path = below
        for part in folder.relative_to(below).parts:
            path /= part
            name = part if descriptor is not None else str(path)
            try:
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, dir_fd=descriptor)
                if problem := _problem(name, descriptor, folder=True):
                    _refuse(path, problem)
                if descriptor is not None:
                    inner = os.open(name, _ENTER | os.O_NOFOLLOW, dir_fd=descriptor)
                    os.close(descriptor)
                    descriptor = inner
            except OSError as error:
                raise _with_path(error, path) from None
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _problem(name: str, descriptor: int | None, *, folder: bool = False) -> str:
    """Return why something is no folder, or no plain file; "" if it is one, or there is nothing."""
    try:
        status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    except OSError:
        return ""
    if stat.S_ISLNK(status.st_mode) or getattr(status, "st_file_attributes", 0) & _REPARSE:
        return _LINK
    if folder:
        return "" if stat.S_ISDIR(status.st_mode) else _NO_FOLDER
    return "" if stat.S_ISREG(status.st_mode) else _NOT_PLAIN


def _refuse(file: Path, problem: str | OSError) -> NoReturn:
    """Raise OSError for a file, and note it unless the file is only missing."""
    error = OSError(errno.EPERM, problem, str(file)) if isinstance(problem, str) else _with_path(problem, file)
    if FOLDER in file.parts and not isinstance(error, FileNotFoundError | FileExistsError):
        note(f"{error.strerror} ({file})")
    raise error from None


def _with_path(error: OSError, file: Path, temporary: str = "") -> OSError:
    """Return an error of a name in a folder as one of the path; an error of another file as it is."""
    if error.filename in (None, file.name, temporary, str(file)):
        return OSError(error.errno, error.strerror, str(file)) if error.errno is not None else error
    return error


def note(sentence: str) -> None:
    """Keep a sentence for the user, who reads it once before the program ends."""
    notes.setdefault(sentence, False)


def new_notes() -> list[str]:
    """Return the notes that the user has not seen."""
    return [sentence for sentence, is_seen in notes.items() if not is_seen]


def try_lock(descriptor: int) -> bool:
    """Take the lock of an open file; return whether it was free. Without support for locks it always is.

    It is released when the file is closed or the process ends, in whatever way.
    """
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
    return True


# Which courses may run their code here: the folders that this user trusts.
#
# A course's checks run in the judge's process, and its exercises and solutions as processes of the user. So `course`
# asks before it runs any of them, as git does with `safe.directory`. The list is in the user's own configuration, so
# that a folder cannot declare itself trusted. It has each folder with its owner; edited checks need no new answer.

ENGINE = Path(__file__).resolve().parents[2]
"""The folder of the running engine. In a kit or a checkout it is the course's folder, whose code runs already."""

VARIABLE = "COURSE_TRUST"
"""Trusted folders, separated as in PATH, or 1 for every folder: for containers and automatic runs."""

ask: list[Callable[[Path], bool]] = []
"""The function that asks the user, last; empty without a terminal."""


class Untrusted(Exception):
    """The user does not trust a course's folder; the message is a sentence with the command that trusts it."""


def require(root: Path) -> None:
    """Return if the code of a course may run; ask the user if possible. Raises `Untrusted`."""
    root = root.resolve()
    if is_trusted(root):
        return
    if ask and ask[-1](root):
        trust_folder(root)
        return
    raise Untrusted(
        f"you have not used the course in {root} before, and its code would run with your rights. Nothing was run. "
        f"If you trust that folder, run: course trust {in_shell(root)}"
    )


def is_trusted(root: Path) -> bool:
    """Say whether the code of a course may run: it is the engine's own, in `COURSE_TRUST`, or on the list."""
    root = root.resolve()
    return root == ENGINE or _is_in_variable(root) or _read_list().get(str(root), "") == _owner(root)


def trust_folder(root: Path) -> Path | None:
    """Add a folder to the list; return the list's file. None if it cannot be written: then only this run trusts it."""
    root = root.resolve()
    trust_here(root)
    return _change_list(lambda folders: {**folders, str(root): _owner(root)})


def trust_line(root: Path) -> str:
    """Return the line for a shell that trusts a folder without the list."""
    folder = in_shell(root.resolve())
    return f"export {VARIABLE}={folder}" if os.name == "posix" else f"$env:{VARIABLE} = {folder}"


def distrust(root: Path) -> bool:
    """Remove a folder from the list; return whether it was on it. Raises OSError."""
    name = str(root.resolve())
    if name not in _read_list():
        return False
    if _change_list(lambda folders: {other: owner for other, owner in folders.items() if other != name}) is None:
        raise OSError(1, "the list of trusted folders cannot be written", str(_file()))
    return True


def trust_here(root: Path) -> None:
    """Trust a folder in this process and its children, as for a folder this process made from a trusted course."""
    value = os.environ.get(VARIABLE, "")
    if not _is_in_variable(root.resolve()):
        os.environ[VARIABLE] = os.pathsep.join(filter(None, [value, str(root.resolve())]))


def _is_in_variable(root: Path) -> bool:
    value = os.environ.get(VARIABLE, "")
    return value == "1" or any(Path(folder).resolve() == root for folder in value.split(os.pathsep) if folder)


def _read_list() -> dict[str, str]:
    """Return the trusted folders with their owners; nothing if another user could have written the list."""
    file = _file()
    try:
        if file is None or not _is_own(file):
            return {}
        return read_json(dict[str, dict[str, str]], read_plain(file)).get("folders", {})
    except (OSError, Unreadable):
        return {}


def _change_list(changed: Callable[[dict[str, str]], dict[str, str]]) -> Path | None:
    """Change the list, and no other process meanwhile; return its file, or None if it cannot be written."""
    file = _file()
    try:
        if file is None:
            return None
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with folder_lock(file.parent):
            write_atomically(file, json.dumps({"folders": changed(_read_list())}, indent=1) + "\n", mode=0o600)
    except OSError:
        return None
    return file


def _file() -> Path | None:
    """Return the file of the list; None for a user without a home."""
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
        else:
            base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    except RuntimeError:
        return None
    return base / "course" / "trusted.json" if base.is_absolute() else None


def _is_own(file: Path) -> bool:
    """Say whether this user owns a file and nobody else may write it."""
    if sys.platform == "win32":  # the folder of %APPDATA% is the user's own
        return True
    status = file.stat()
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _owner(root: Path) -> str:
    """Return the user id that owns a folder, as text; `nobody`, which is no id, if there is no such folder."""
    try:
        return str(root.stat().st_uid)
    except OSError:
        return "nobody"


def in_shell(path: Path) -> str:
    """Return a path as a word of the command line."""
    return shlex.quote(str(path)) if os.name == "posix" else f'"{path}"'
