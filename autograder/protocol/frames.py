"""Frames: one value on a byte stream, with its length in front and a cap on everything.

Layout: the four bytes `CRS1`, the length of the JSON text (uint32), the length of the blob (uint32), both
big-endian, then the text and the blob.
"""

import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NoReturn

from autograder.protocol.values import MAX_NODES, ProtocolError, TooLarge, Value, decode, encode

MAGIC = b"CRS1"
HEADER = struct.Struct(">4sII")
CUT_OFF = "the stream ended inside a frame"


@dataclass(frozen=True)
class Limits:
    """The most one frame may hold: bytes of text, bytes of blob, parts of its value."""

    text: int = 4 << 20
    blob: int = 64 << 20
    nodes: int = MAX_NODES


Read = Callable[[int], bytes]
"""Returns up to n bytes; fewer than one only at the end of the stream."""


def write_frame(value: Value) -> bytes:
    """Return the frame that carries `value`."""
    data, blob = encode(value)
    text = _WRITER.encode(data).encode()
    return HEADER.pack(MAGIC, len(text), len(blob)) + text + blob


def read_frame(read: Read, limits: Limits) -> Value | None:
    """Return the next value on the stream, None at its end, or raise `ProtocolError`.

    A sender can put None into a frame only inside something, so None is unambiguous here.
    """
    header = _read_exactly(read, HEADER.size)
    if not header:
        return None
    if len(header) < HEADER.size:
        raise ProtocolError(CUT_OFF)
    text_length, blob_length = _lengths(header, limits)
    text, blob = _read_exactly(read, text_length), _read_exactly(read, blob_length)
    if len(text) < text_length or len(blob) < blob_length:
        raise ProtocolError(CUT_OFF)
    return _value(text, blob, limits)


class Frames:
    """The values on a stream whose bytes come in as they come."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held = bytearray()

    def add(self, data: bytes) -> Iterator[Value]:
        """Yield the values that are whole with these bytes; raises `ProtocolError`, of a great length at once."""
        self._held += data
        start, end = 0, HEADER.size
        try:
            while len(self._held) >= end:
                text_length, blob_length = _lengths(self._held[start:end], self._limits)
                middle, last = end + text_length, end + text_length + blob_length
                if len(self._held) < last:
                    break
                text, blob = bytes(self._held[end:middle]), bytes(self._held[middle:last])
                start, end = last, last + HEADER.size
                yield _value(text, blob, self._limits)
        finally:
            del self._held[:start]

    def end(self) -> None:
        """Hear that nothing more comes; raises `ProtocolError` inside a frame."""
        if self._held:
            raise ProtocolError(CUT_OFF)


def _lengths(header: bytes | bytearray, limits: Limits) -> tuple[int, int]:
    magic, text_length, blob_length = HEADER.unpack(header)
    if magic != MAGIC:
        raise ProtocolError("something that is not a frame")
    if text_length > limits.text or blob_length > limits.blob:
        raise TooLarge(f"a frame of {text_length + blob_length:,} bytes, more than is allowed")
    return text_length, blob_length


def _value(text: bytes, blob: bytes, limits: Limits) -> Value:
    value = decode(_parse(text), blob, limits.nodes)
    if value is None:
        raise ProtocolError("an empty frame")
    return value


def _parse(text: bytes) -> object:
    try:
        return _DECODER.decode(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a frame whose text is not JSON") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ProtocolError(f"the JSON constant {name}")


_WRITER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _read_exactly(read: Read, length: int) -> bytes:
    parts = []
    while length > 0:
        part = read(min(length, 1 << 20))
        if not part:
            break
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
