"""Frames: one value on a byte stream, preceded by its length, with a limit on every size.

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
    """Limits of one frame: bytes of text, bytes of blob, nodes in its value."""

    text: int = 4 << 20
    blob: int = 64 << 20
    nodes: int = MAX_NODES


Read = Callable[[int], bytes]
"""Returns 1 to n bytes, or none at the end of the stream."""


def write_frame(value: Value) -> bytes:
    """Return the frame that carries `value`."""
    data, blob = encode(value)
    text = _WRITER.encode(data).encode()
    return HEADER.pack(MAGIC, len(text), len(blob)) + text + blob


def split_frame(frame: bytes) -> tuple[bytes, bytes]:
    """Return the two parts of a frame, its header with the text and its blob, which compress differently."""
    _, text_length, _ = HEADER.unpack(frame[: HEADER.size])
    return frame[: HEADER.size + text_length], frame[HEADER.size + text_length :]


def write_all(write: Callable[[memoryview], int], data: bytes) -> None:
    """Write all of some bytes, however few each call of `write` takes."""
    rest = memoryview(data)
    while rest:
        rest = rest[write(rest) :]


def read_frame(read: Read, limits: Limits) -> Value | None:
    """Return the next value on the stream, or None at its end. Raises `ProtocolError`.

    A frame cannot hold a bare None, so None always means the end.
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
    """Decodes a stream of frames whose bytes arrive in pieces of any size."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._buffer = bytearray()

    def add(self, data: bytes) -> Iterator[Value]:
        """Yield the values that these bytes complete. Raises `ProtocolError`.

        A length beyond the limits raises as soon as the header is here, before any of the body is kept.
        """
        self._buffer += data
        start, end = 0, HEADER.size
        try:
            while len(self._buffer) >= end:
                text_length, blob_length = _lengths(self._buffer[start:end], self._limits)
                middle, last = end + text_length, end + text_length + blob_length
                if len(self._buffer) < last:
                    break
                text, blob = bytes(self._buffer[end:middle]), bytes(self._buffer[middle:last])
                start, end = last, last + HEADER.size
                yield _value(text, blob, self._limits)
        finally:
            del self._buffer[:start]

    def end(self) -> None:
        """Check that the stream ended between two frames; raises `ProtocolError` if not."""
        if self._buffer:
            raise ProtocolError(CUT_OFF)


def _lengths(header: bytes | bytearray, limits: Limits) -> tuple[int, int]:
    magic, text_length, blob_length = HEADER.unpack(header)
    if magic != MAGIC:
        raise ProtocolError("bytes that are not a frame")
    if text_length > limits.text or blob_length > limits.blob:
        raise TooLarge(f"a frame of {text_length + blob_length:,} bytes, more than allowed")
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
    chunks = []
    while length > 0:
        chunk = read(min(length, 1 << 20))  # in steps, so that a stated length alone reserves no memory
        if not chunk:
            break
        chunks.append(chunk)
        length -= len(chunk)
    return b"".join(chunks)
