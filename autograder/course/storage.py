"""The folder `.course` of a course: its layout, and how files are written and locked."""

import contextlib
import errno
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from autograder import ending

FOLDER = ".course"
LONGEST_WAIT = 5.0
"""Seconds to wait for a lock. The kit holds one for milliseconds, so a longer holder was suspended."""

LOCAL_ONLY = ("/cache/", "/last/", "/backups/", "/play/", "/grading_seed", "/lock", ".*")
"""Paths that git ignores: they can be made again, or hold a student's code. Progress and events may be committed."""


def state_folder(root: Path, *inside: str) -> Path:
    """Return `.course`, or a folder inside it; create it if missing. Raises OSError."""
    top = root / FOLDER
    top.mkdir(exist_ok=True)
    ignore = top / ".gitignore"
    if not ignore.exists():
        with contextlib.suppress(OSError):
            write_atomically(ignore, "".join(f"{pattern}\n" for pattern in (*LOCAL_ONLY, "!/.gitignore")))
    folder = top.joinpath(*inside)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_atomically(file: Path, content: str | bytes, *, durable: bool = False, mode: int = 0o644) -> None:
    """Write a file atomically. Raises OSError.

    With `durable` it is on the disk before it replaces the old file, so that one of the two survives a power failure.
    """
    with replacing(file, mode) as temporary, temporary.open("wb") as stream:
        stream.write(content.encode() if isinstance(content, str) else content)
        if durable:
            stream.flush()
            os.fsync(stream.fileno())


@contextlib.contextmanager
def replacing(file: Path, mode: int = 0o644) -> Iterator[Path]:
    """Yield a temporary file that replaces a file after the block: no reader ever sees a part of it. Raises OSError.

    It never has wider permissions than `mode`.
    """
    with ending.temporary(lambda: _temporary_beside(file)) as temporary:
        yield temporary
        temporary.chmod(mode)
        temporary.replace(file)


def _temporary_beside(file: Path) -> Path:
    """Create an empty temporary file beside another, readable by this user only. Raises OSError."""
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name[:40]}-")
    os.close(descriptor)
    return Path(temporary)


@contextlib.contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Keep other processes of the kit out of the folder within the block, if the file system supports locks.

    After `LONGEST_WAIT` it continues without the lock.
    """
    with (folder / "lock").open("a+b") as stream:
        until = time.monotonic() + LONGEST_WAIT
        while not try_lock(stream.fileno()) and time.monotonic() < until:
            time.sleep(0.01)
        yield  # closing the file releases the lock, and so does the end of the process


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
