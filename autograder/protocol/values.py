"""Plain values: the data an observation may consist of, none of it executable.

A value is None, a bool, an int, a float, a str, bytes, an `Array`, an `Opaque`, or a list, tuple or
string-keyed dict of values. `encode` turns one into JSON-ready data and a blob of raw bytes; `decode`
turns hostile data back into a value or raises `ProtocolError`. Neither uses pickle, which could run code.
"""

import math
from dataclasses import dataclass
from typing import Any

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
