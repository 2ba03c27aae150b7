"""Everything that can be read from a file: its text, encoded data, and compressed streams at any offset.

A packed git history, a zip without its directory and a comment in an image are treated alike: as streams in bytes.
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
"""The number of nested encodings that are unpacked, like base64 in a zip in a zip."""

MOST_BYTES = 1 << 30
"""The most bytes unpacked from one file: stops archive bombs."""

# Shorter runs of printable bytes are noise in binary data, and shorter base64 or hexadecimal ones are words.
_RUN = re.compile(rb"[\t\n\r\x20-\x7e]{6,}")
_WIDE = re.compile(rb"(?:[\t\n\r\x20-\x7e]\0){6,}")
_GAPS = re.compile(rb"\\+[nrt]|[\s\"',\\]")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{24,}")
_HEX = re.compile(rb"[0-9A-Fa-f]{32,}")
_STREAM = re.compile(rb"\x78[\x01\x5e\x9c\xda]|\x1f\x8b\x08|BZh[1-9]1AY&SY|\xfd7zXZ\0|PK\x03\x04")
_SEALED = {b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!\x1a\x07": "rar", b"\x28\xb5\x2f\xfd": "zstd"}
_PIECE = 1 << 16
_LEAST = 12
"""A stream that unpacks to fewer bytes is nearly always a chance match of the start bytes."""


class SealedError(Exception):
    """A file that cannot be searched; the message is the rest of a sentence that begins with its name."""


@dataclass(frozen=True)
class View:
    """One reading of a file: its text, and the layers it was found under, like ("base64", "zlib")."""

    text: str
    layers: tuple[str, ...]
    blob: bytes


def views(data: bytes) -> Iterator[View]:
    """Yield everything that can be read from a file. Raises `SealedError` if a part cannot be searched."""
    left = [MOST_BYTES]
    yield from _views(data, (), left)


def _views(data: bytes, layers: tuple[str, ...], left: list[int]) -> Iterator[View]:
    left[0] -= len(data)
    if left[0] < 0:
        raise SealedError(f"unpacks to more than {MOST_BYTES >> 20} MiB, too much to look through")
    for magic, name in _SEALED.items():
        if data.startswith(magic):
            raise SealedError(f"is a {name} archive, which cannot be searched")
    text = _text(data)
    yield View(text, layers, data)
    if len(layers) == DEEPEST:
        return
    for how, inner in _layers(data, text.encode("utf-8", "replace"), left):
        yield from _views(inner, (*layers, how), left)


def _text(data: bytes) -> str:
    """Return the text in some bytes: all of it, or the runs of printable characters in binary data."""
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
    """Return the strings of a JSON document, such as a notebook, one per line."""
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
    """Yield encoded data, read from every offset at which a block may begin, and compressed streams."""
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
    """Return a run of base64, cut or padded to whole blocks."""
    over = len(run) % 4
    return run[: len(run) - 1] if over == 1 else run + b"=" * (-over % 4)


def _pairs(run: bytes) -> bytes:
    return run[: len(run) // 2 * 2]


def _stream(data: bytes, start: int, left: list[int]) -> tuple[str, bytes, int]:
    """Return the format of the stream at an offset, its readable content, and its end."""
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
        raise SealedError("has a zip with a password, which cannot be searched")
    if method == 8:
        return "zip", *_inflated(data, body, lambda: zlib.decompressobj(-15), left)
    if method not in (0, 12):  # stored and bzip2 data are found at their own offsets
        raise SealedError(f"has a zip with compression method {method}, which cannot be searched")
    return "zip", b"", body


def _inflated(data: bytes, start: int, make: Callable[[], Any], left: list[int]) -> tuple[bytes, int]:
    """Return the content of a stream, as far as it can be read, and its end."""
    stream, pieces, at = make(), [], start
    size = 0
    try:
        while at < len(data) and not stream.eof:
            piece = data[
                at : at + (256 if at == start else _PIECE)
            ]  # most of these starts are not streams: try a little first
            pieces.append(stream.decompress(piece))
            size += len(pieces[-1])
            at += len(piece)
            if size > left[0]:
                raise SealedError(f"unpacks to more than {MOST_BYTES >> 20} MiB, too much to look through")
    except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError):
        return b"".join(pieces), start + 1
    return b"".join(pieces), at - len(stream.unused_data) if stream.eof else start + 1
