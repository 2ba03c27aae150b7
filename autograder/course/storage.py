"""The folder `.course` beside a course: what is kept there, and how it is written."""

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

LOCAL_ONLY = ("/cache/", "/last/", "/backups/", "/play/", "/grading_seed", "/lock", ".*")
"""What git leaves alone: it can be made again, or holds a student's code. Progress and events are worth a commit."""


def own_folder(root: Path, *inside: str) -> Path:
    """Return `.course`, or a folder inside it, made where it is not there yet. Raises OSError."""
    top = root / FOLDER
    top.mkdir(exist_ok=True)
    ignore = top / ".gitignore"
    if not ignore.exists():
        with contextlib.suppress(OSError):
            write_whole(ignore, "".join(f"{each}\n" for each in (*LOCAL_ONLY, "!/.gitignore")))
    folder = top.joinpath(*inside)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_whole(file: Path, text: str, *, durable: bool = False, mode: int = 0o644) -> None:
    """Write a file whole or not at all: whoever reads it never sees a part. Raises OSError.

    It is never open to others than `mode` says. With `durable` it is on the disk before it takes the place of the old
    one: a loss of power keeps one of them.
    """
    with ending.temporary(lambda: part_of(file)) as temporary:
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        temporary.chmod(mode)
        temporary.replace(file)


def part_of(file: Path) -> Path:
    """Make an empty file beside another, which only this user may read, to take its place. Raises OSError."""
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name[:40]}-")
    os.close(descriptor)
    return Path(temporary)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep every other process of the kit out of the folder meanwhile, where the file system knows locks.

    One that holds the lock for longer was stopped in the middle: nobody waits for it any more.
    """
    with (folder / "lock").open("a+b") as stream:
        until = time.monotonic() + LONGEST_WAIT
        while not locked(stream.fileno()) and time.monotonic() < until:
            time.sleep(0.01)
        yield  # closing the file lets go of the lock, as does the end of the process


def locked(descriptor: int) -> bool:
    """Take the lock of an open file, and return whether it was free; where locks are not known it always is.

    It is let go when the file is closed or the process ends, however it ends.
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
