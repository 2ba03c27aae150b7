"""Plain values: the data an observation may consist of, none of it executable.

A value is None, a bool, an int, a float, a str, bytes, an `Array`, an `Opaque`, or a list, tuple or
string-keyed dict of values. `encode` turns one into JSON-ready data and a blob of raw bytes; `decode`
turns hostile data back into a value or raises `ProtocolError`. Neither uses pickle, which could run code.
"""

import json
import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

Value = Any
"""A plain value. (A recursive alias would make every use of it a cast.)"""

ITEM_SIZES = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}
"""Bytes per element of every dtype an array may have."""

_JSON_TYPES = frozenset({type(None), bool, int, str})
"""Types that JSON holds unchanged; a float may be NaN or infinite, which JSON does not know."""

_NUMBERS = frozenset({type(None), bool, int, float})

MAX_DEPTH = 16
MAX_NODES = 20_000
MAX_AXES = 12
MOST_PLACES = 1 << 40
"""The product of an array's nonzero sizes: NumPy refuses to hold even an empty array of more."""


class ProtocolError(Exception):
    """The data received is not a frame or not a value; the message is a noun phrase that names it."""


class TooLarge(ProtocolError):
    """The data received is well formed, but beyond a limit."""


NUMPY = "numpy"
"""What an array of NumPy has in place of a device."""


@dataclass(frozen=True)
class Array:
    """A tensor or an array of NumPy as data: its elements in C order, little-endian, and the name of its device."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes
    device: str = "cpu"


@dataclass(frozen=True)
class Opaque:
    """The name of the type of an object that is not data."""

    type_name: str


def encode(value: Value) -> tuple[Any, bytes]:
    """Return `value` as JSON-ready data, and the blob that holds its arrays and bytes."""
    blob = bytearray()
    return _encoded(value, blob), bytes(blob)


def _encoded(item: Value, blob: bytearray) -> Any:
    kind = type(item)
    if kind in _JSON_TYPES:  # the three most frequent cases first: this runs for every part of every answer
        return item
    if kind is Array:
        return {"array": [item.dtype, item.shape, item.device, *_appended(item.data, blob)]}
    if kind is dict:
        return {"dict": {str(key): _encoded(part, blob) for key, part in item.items()}}
    match item:
        case int() | str():
            return item
        case float():
            return item if math.isfinite(item) else {"float": repr(item)}
        case list():
            return [_encoded(part, blob) for part in item]
        case bytes():
            return {"bytes": _appended(item, blob)}
        case Opaque():
            return {"opaque": item.type_name}
        case tuple():
            return {"tuple": [_encoded(part, blob) for part in item]}
    raise TypeError(f"{kind.__name__} is not a plain value")


def _appended(data: bytes, blob: bytearray) -> list[int]:
    """Append data to the blob; return its start and its length there."""
    blob += data
    return [len(blob) - len(data), len(data)]


def decode(data: Any, blob: bytes, most_nodes: int = MAX_NODES) -> Value:
    """Return the value that `encode` made `data` and `blob` from, or raise `ProtocolError`."""
    return _Decoder(blob, most_nodes).node(data, 0)


class _Decoder:
    """Builds a value from the output of a JSON parser, which holds JSON's own types and no others."""

    def __init__(self, blob: bytes, most_nodes: int) -> None:
        self.blob = blob
        self.most_nodes = most_nodes
        self.nodes = 1

    def node(self, data: Any, depth: int) -> Value:
        kind = type(data)
        if kind in _NUMBERS:
            return data
        if kind is str:
            return writable(data)
        if kind is list:
            return self.parts(data, depth)
        if kind is not dict or len(data) != 1:
            raise ProtocolError("a part that is not a value")
        [(tag, body)] = data.items()
        return self.tagged(tag, body, depth)

    def tagged(self, tag: str, body: Any, depth: int) -> Value:
        kind = type(body)
        if tag == "array" and kind is list and len(body) == 5:
            return self.array(*body)
        if tag == "dict" and kind is dict:
            return dict(zip(map(writable, body), self.parts(list(body.values()), depth), strict=True))
        if tag == "tuple" and kind is list:
            return tuple(self.parts(body, depth))
        if tag == "float" and body in ("nan", "inf", "-inf"):
            return float(body)
        if tag == "opaque" and kind is str:
            return Opaque(writable(body[:200]))
        if tag == "bytes" and kind is list and len(body) == 2:
            return self.slice(*body)
        raise ProtocolError("a part that is not a value")

    def parts(self, data: list[Any], depth: int) -> list[Value]:
        depth += 1
        self.nodes += len(data)
        if self.nodes > self.most_nodes or depth > MAX_DEPTH:
            raise TooLarge(f"a value deeper than {MAX_DEPTH} levels or of more than {self.most_nodes} parts")
        return [part if type(part) in _NUMBERS else self.node(part, depth) for part in data]

    def slice(self, start: Any, length: Any) -> bytes:
        if not (_is_size(start) and _is_size(length) and start + length <= len(self.blob)):
            raise ProtocolError("bytes outside their frame")
        return self.blob[start : start + length]

    def array(self, dtype: Any, shape: Any, device: Any, start: Any, length: Any) -> Array:
        item_size = ITEM_SIZES.get(dtype) if type(dtype) is str else None
        if item_size is None:
            raise ProtocolError("an array of an unknown dtype")
        if type(shape) is not list or len(shape) > MAX_AXES:
            raise ProtocolError("an array of an impossible shape")
        elements = places = 1
        for size in shape:
            if not _is_size(size):
                raise ProtocolError("an array of an impossible shape")
            elements *= size
            places *= size or 1
        if type(device) is not str:
            raise ProtocolError("an array without a device")
        if places > MOST_PLACES:
            raise TooLarge("an array of too many elements")
        data = self.slice(start, length)
        if elements * item_size != len(data):
            raise ProtocolError("an array whose shape and bytes disagree")
        return Array(dtype, tuple(shape), data, writable(device[:40]))


def writable(text: str) -> str:
    """Return a text with lone surrogates written out as escapes: no file could hold them."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _is_size(number: Any) -> bool:
    return type(number) is int and 0 <= number <= MOST_PLACES


# Upper bounds for everything a worker sends about a program. The worker keeps to them; the judge refuses more.
#
# The worker cuts or omits whatever is longer. So an answer beyond these bounds was written by a student's code.

# Numbers and texts of any answer
MOST_SECONDS = 1e6
"""Longer than any check can run, and small enough that the sum of many runs is still a finite number."""

MOST_LINE = 1 << 24
"""The largest line or column number: no accepted file has more bytes."""

MOST_NAME = 100
"""Characters in the name of a file, a function, a variable or a type."""

# What a check returned
OBSERVATION_DEPTH = 8
OBSERVATION_PARTS = 1000
OBSERVATION_TEXT = 4_000
"""Characters of a text, and bytes of a byte string."""

OBSERVATION_KEY = 200
OBSERVATION_ELEMENTS = 1 << 21
"""Elements of one tensor: with the largest dtype they just fill the blob of a frame (16 MiB)."""

INT_BITS = 62
"""Bits of an int: any such number, negated or added to another one, still fits into 64 bits."""

# An exception
FAULT_BASES = 8
FAULT_MESSAGE = 1_000
FAULT_FRAMES = 21
"""Frames of an exception; the last may be the location of a syntax error."""

FAULT_VALUES = 100
"""Tensors in those frames, at most `FRAME_VALUES` in each."""

FRAME_VALUES = 8

FAULT_REFUSALS = 8
"""Sentences of one refusal: a message has room for fewer."""

# What the syntax of a file shows
SURVEY_PLACES = 200
SURVEY_FUNCTIONS = 200
SURVEY_RETURNS = 20
"""Lines of one function: its definition, then its returns. The reports use at most two."""

SURVEY_FORBIDDEN = 100
SURVEY_FLAGS = 20
SURVEY_REASON = 200
"""Characters of the reason for a flag, which course.toml writes."""
SURVEY_STATEMENTS = 2_000
SURVEY_ASSIGNMENTS = 500
SURVEY_HELPERS = 20
SURVEY_OWNERS = 100
"""Functions and classes of which the words are read."""

SURVEY_WORDS = 1_000
"""Words of each of them."""

STATEMENT_HASH = 16

# The intermediate results of a program
TRACE_FILES = 256
TRACE_PLACES = 1_000
"""Eight times as many source positions as an honest program of the course has."""

TRACE_STEPS = 800
TRACE_INPUTS = 8
TRACE_STACK = 6
TRACE_RESULTS = 16
TRACE_PARTS = 2 * TRACE_FILES + 7 * TRACE_PLACES + TRACE_STEPS * 40
"""Nodes in the longest trace: a step has eight fields, of which five are lists."""

TRACE_NAME = 60
TRACE_DTYPE = 20
TRACE_AXES = 12
TRACE_ELEMENTS = 1 << 17
BEYOND = 1e4
"""A larger number of a trace is treated as infinity: learners fill masks with -inf, -1e9 or the like."""

# The values of plain variables in such a trace
CALL, ARGUMENT, VALUE = "call", "argument", "value"
"""The names of its steps: a call by the check, an argument of a function, and what a statement made."""

PLAIN_NUMBERS = 1 << 10
"""Numbers that stand for one value; larger values are not recorded."""

PLAIN_DEPTH = 6


def cut(text: str, most: int = MOST_NAME) -> str:
    """Return the beginning of a text, exactly as the judge will receive it."""
    return writable(text[:most])[:most]  # writing out a surrogate makes the text longer, so cut twice


def line_number(line: int | None) -> int:
    """Return a line or column number within bounds; 0 where Python knows none."""
    return min(max(int(line or 0), 0), MOST_LINE)


# Frames: one value on a byte stream, preceded by its length, with a limit on every size.
#
# Layout: the four bytes `CRS1`, the length of the JSON text (uint32), the length of the blob (uint32), both big-
# endian, then the text and the blob.

MAGIC = b"CRS1"
HEADER = struct.Struct(">4sII")
CUT_OFF = "the stream ended inside a frame"


@dataclass(frozen=True)
class FrameLimits:
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


def read_frame(read: Read, limits: FrameLimits) -> Value | None:
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

    def __init__(self, limits: FrameLimits) -> None:
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


def _lengths(header: bytes | bytearray, limits: FrameLimits) -> tuple[int, int]:
    magic, text_length, blob_length = HEADER.unpack(header)
    if magic != MAGIC:
        raise ProtocolError("bytes that are not a frame")
    if text_length > limits.text or blob_length > limits.blob:
        raise TooLarge(f"a frame of {text_length + blob_length:,} bytes, more than allowed")
    return text_length, blob_length


def _value(text: bytes, blob: bytes, limits: FrameLimits) -> Value:
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


# Packets: many pipes over one pair of streams. A packet is a header (child, channel, length) and its bytes.
#
# Channel 0 carries the zygote's JSON requests and events, and a job to warm it up where `child` is not 0. Channel 1
# carries a child's jobs, 2 its answers, 3 its log. An empty packet closes the channel of that child.

PACKET_FIELDS = struct.Struct(">IBI")
CONTROL, JOBS, ANSWERS, LOG = range(4)
MOST_BYTES = 64 << 20
"""The longest packet that either side accepts."""


def write_packet(write: Callable[[memoryview], int], child: int, channel: int, body: bytes) -> None:
    """Write a packet to one of the two streams."""
    write_all(write, PACKET_FIELDS.pack(child, channel, len(body)) + body)
