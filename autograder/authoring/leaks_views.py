"""What can be read out of a file: its text, what is encoded in it, and what is compressed, wherever in it that begins.

A packed git history, a zip without its directory and a picture's comment are all the same here: streams in bytes.
"""

import base64
import binascii
import bz2
import html
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

DEEPEST = 5
"""So many layers are taken off: a zip of zips of base64 and the like."""

MOST_BYTES = 1 << 30
"""So much may come out of one file."""

_RUN = re.compile(rb"[\t\n\r\x20-\x7e]{6,}")
_WIDE = re.compile(rb"(?:[\t\n\r\x20-\x7e]\0){6,}")
_GAPS = re.compile(rb"\\+[nrt]|[\s\"',\\]")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{24,}")
_HEX = re.compile(rb"[0-9A-Fa-f]{32,}")
_STREAM = re.compile(rb"\x78[\x01\x5e\x9c\xda]|\x1f\x8b\x08|BZh[1-9]1AY&SY|\xfd7zXZ\0|PK\x03\x04")
_SEALED = {b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!\x1a\x07": "rar", b"\x28\xb5\x2f\xfd": "zstd"}
_PIECE = 1 << 16
_LEAST = 12


class SealedError(Exception):
    """Something in a file cannot be looked through; the message is the rest of a sentence that begins with its name."""


@dataclass(frozen=True)
class View:
    """One reading of a file: its text, and through which layers, like ("base64", "zlib")."""

    text: str
    layers: tuple[str, ...]
    blob: bytes


def views(data: bytes) -> Iterator[View]:
    """Yield everything that can be read out of a file. Raises `SealedError` where that cannot be known."""
    left = [MOST_BYTES]
    yield from _views(data, (), left)


def _views(data: bytes, layers: tuple[str, ...], left: list[int]) -> Iterator[View]:
    left[0] -= len(data)
    if left[0] < 0:
        raise SealedError(f"unpacks to more than {MOST_BYTES >> 20} MiB, too much to look through")
    for magic, name in _SEALED.items():
        if data.startswith(magic):
            raise SealedError(f"is packed as {name}, which cannot be looked through")
    text = _text(data)
    yield View(text, layers, data)
    if len(layers) == DEEPEST:
        return
    for how, inner in _layers(data, text.encode("utf-8", "replace"), left):
        yield from _views(inner, (*layers, how), left)


def _text(data: bytes) -> str:
    """Return the text in some bytes: all of it, or what runs of characters there are between others."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\n".join(run.decode("ascii") for run in _RUN.findall(data))
    if "\0" in text or b"\0" in data:
        wide = b"\n".join(run.replace(b"\0", b"") for run in _WIDE.findall(data) + _WIDE.findall(data[1:]))
        text = f"{text}\n{wide.decode('ascii')}"
    if text[:1] in ("{", "["):
        text = f"{text}\n{_strings(text)}"
    return f"{text}\n{html.unescape(text)}" if "&" in text else text


def _strings(text: str) -> str:
    """Return the texts of a JSON document, such as a notebook, one after the other."""
    try:
        waiting: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError):
        return ""
    found: list[str] = []
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*reversed(value.values()), *value]
        elif isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, str):
            found.append(value)
    return "\n".join(found)


def _layers(data: bytes, text: bytes, left: list[int]) -> Iterator[tuple[str, bytes]]:
    """Yield what is encoded in the text, at every offset that a block may begin at, and what is compressed."""
    compact = _GAPS.sub(b"", text)
    runs = [run.replace(b"-", b"+").replace(b"_", b"/") for run in _BASE64.findall(compact)]
    for phase in range(4 if runs else 0):
        yield "base64", b"\n".join(base64.b64decode(_quartets(run[phase:])) for run in runs)
    digits = _HEX.findall(compact)
    for phase in range(2 if digits else 0):
        yield "hexadecimal", b"\n".join(binascii.unhexlify(_pairs(run[phase:])) for run in digits)
    at = 0
    while found := _STREAM.search(data, at):
        how, inner, end = _stream(data, found.start(), left)
        at = max(end, found.start() + 1)
        if len(inner) >= _LEAST:
            yield how, inner


def _quartets(run: bytes) -> bytes:
    """Return a run of base64 that ends with a whole block."""
    over = len(run) % 4
    return run[: len(run) - 1] if over == 1 else run + b"=" * (-over % 4)


def _pairs(run: bytes) -> bytes:
    return run[: len(run) // 2 * 2]


def _stream(data: bytes, start: int, left: list[int]) -> tuple[str, bytes, int]:
    """Return how the stream at an offset is compressed, what is in it as far as it goes, and where it ends."""
    first = data[start : start + 4]
    if first[:1] == b"\x78":
        return "zlib", *_inflated(data, start, zlib.decompressobj, left)
    if first[:2] == b"\x1f\x8b":
        return "gzip", *_inflated(data, start, lambda: zlib.decompressobj(31), left)
    if first[:3] == b"BZh":
        return "bzip2", *_inflated(data, start, bz2.BZ2Decompressor, left)
    if first[:2] == b"\xfd7":
        return "xz", *_inflated(data, start, lzma.LZMADecompressor, left)
    flags, method = (int.from_bytes(data[start + at : start + at + 2], "little") for at in (6, 8))
    name, extra = (int.from_bytes(data[start + at : start + at + 2], "little") for at in (26, 28))
    body = start + 30 + name + extra
    if body > len(data):
        return "zip", b"", start + 4
    if flags & 1:
        raise SealedError("holds a zip with a password, which cannot be looked through")
    if method == 8:
        return "zip", *_inflated(data, body, lambda: zlib.decompressobj(-15), left)
    if method not in (0, 12):  # stored and bzip2 are found where they lie
        raise SealedError(f"holds a zip packed by method {method}, which cannot be looked through")
    return "zip", b"", body


def _inflated(data: bytes, start: int, make: Callable[[], Any], left: list[int]) -> tuple[bytes, int]:
    """Return what a stream holds, as far as it can be read, and where it ends."""
    stream, found, at = make(), [], start
    size = 0
    try:
        while at < len(data) and not stream.eof:
            piece = data[at : at + (256 if at == start else _PIECE)]  # most that begin like a stream are none
            found.append(stream.decompress(piece))
            size += len(found[-1])
            at += len(piece)
            if size > left[0]:
                raise SealedError(f"unpacks to more than {MOST_BYTES >> 20} MiB, too much to look through")
    except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError):
        return b"".join(found), start + 1
    return b"".join(found), at - len(stream.unused_data) if stream.eof else start + 1
