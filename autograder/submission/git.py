"""Read the time of the checked-out commit from an untrusted .git, without running git on it.

git runs programs that the repository configures (`core.fsmonitor`, `core.sshCommand`, `gpg.program`, a promisor remote
and more in `.git/config`), so it is not used here. This module reads only HEAD, refs, loose objects and packs, as
documented in gitformat-pack(5) and gitrepository-layout(5). It follows no links, and limits every read.
"""

import os
import re
import zlib
from bisect import bisect_left
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from .contents import YEARS, FileError
from .folders import kind_of, open_plain, read_plain

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
