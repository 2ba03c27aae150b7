"""The cache of answer keys: files that are written whole, that damage is found in, and of which the newest are kept."""

import contextlib
import hashlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

from autograder.course.storage import make_folder, read_plain, remove, write_atomically
from autograder.protocol import Limits, ProtocolError, Value, read_frame, write_frame

KEY_LIMITS = Limits(text=64 << 20, blob=512 << 20, nodes=1_000_000)
MOST_BYTES = 64 << 20
"""The largest key of this course has 3 MiB."""

Kept = TypeVar("Kept")
DIGEST_SIZE = 32
KEPT_KEYS = 6
"""Keys of an exercise in the cache: one for each of the seeds and versions in use."""


def read(file: Path, form: Callable[[Any], Kept]) -> Kept | None:
    """Read a record of the cache; None where it is missing, damaged or of another form, to be made again."""
    try:
        data = read_plain(file, MOST_BYTES)
    except OSError:
        return None
    body, digest = data[:-DIGEST_SIZE], data[-DIGEST_SIZE:]
    if hashlib.sha256(body).digest() != digest:
        return None
    try:
        return form(read_frame(BytesIO(body).read, KEY_LIMITS))
    except (ProtocolError, LookupError, AttributeError, TypeError, ValueError):
        return None


def store(file: Path, record: Value) -> None:
    """Write a record to the cache, whole or not at all. A cache that cannot be written only costs time."""
    body = write_frame(record)
    with contextlib.suppress(OSError):
        make_folder(file.parent)
        write_atomically(file.parent / ".gitignore", "*\n")
        write_atomically(file, body + hashlib.sha256(body).digest(), mode=0o600)
        forget_old(file)


def forget_old(newest: Path) -> None:
    """Delete all but the newest keys of an exercise."""
    exercise = newest.name.rpartition("-")[0]
    kept = sorted(
        newest.parent.glob(f"{exercise}-*{newest.suffix}"), key=lambda file: file.lstat().st_mtime, reverse=True
    )
    for file in kept[KEPT_KEYS:]:
        remove(file)
