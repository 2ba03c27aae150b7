"""Plain values: what an observation may be made of, and nothing that could run.

A value is None, a bool, an int, a float, a str, bytes, an `Array`, an `Opaque`, or a list, tuple or
string-keyed dict of values. `encode` turns one into JSON-ready data and a blob of raw bytes; `decode`
turns hostile data back into a value or raises `ProtocolError`. There is no pickle on the way.
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

_AS_THEY_ARE = frozenset({type(None), bool, int, str})
"""What JSON holds as it is."""

_NUMBERS = frozenset({type(None), bool, int, float})

MAX_DEPTH = 16
MAX_NODES = 20_000
MAX_AXES = 12
MOST_PLACES = 1 << 40
"""The product of an array's sizes, those that are 0 left out: NumPy refuses to hold an empty array of more."""


class ProtocolError(Exception):
    """What came in is not a frame, or not a value; the message is a sentence about it."""


class TooLarge(ProtocolError):
    """What came in is well formed, but more than is taken."""


@dataclass(frozen=True)
class Array:
    """A tensor as data: C-ordered little-endian elements, and the device it was on."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes
    device: str = "cpu"


@dataclass(frozen=True)
class Opaque:
    """Something that is not data; only the name of its type is told."""

    type_name: str


def encode(value: Value) -> tuple[Any, bytes]:
    """Return `value` as JSON-ready data and the blob its arrays and bytes lie in."""
    blob = bytearray()

    def place(data: bytes) -> list[int]:
        blob.extend(data)
        return [len(blob) - len(data), len(data)]

    def node(item: Value) -> Any:
        kind = type(item)
        if kind in _AS_THEY_ARE:
            return item
        if kind is dict:
            return {"dict": {str(key): node(each) for key, each in item.items()}}
        match item:
            case int() | str():
                return item
            case float():
                return item if math.isfinite(item) else {"float": repr(item)}
            case bytes():
                return {"bytes": place(item)}
            case Array():
                return {"array": [item.dtype, list(item.shape), item.device, *place(item.data)]}
            case Opaque():
                return {"opaque": item.type_name}
            case list():
                return [node(each) for each in item]
            case tuple():
                return {"tuple": [node(each) for each in item]}
            case dict():
                return {"dict": {str(key): node(each) for key, each in item.items()}}
        raise TypeError(f"{type(item).__name__} is not a plain value")

    return node(value), bytes(blob)


def decode(data: Any, blob: bytes, most_nodes: int = MAX_NODES) -> Value:
    """Return the value that `encode` made `data` and `blob` from, or raise `ProtocolError`."""
    return _Decoder(blob, most_nodes).node(data, 0)


class _Decoder:
    def __init__(self, blob: bytes, most_nodes: int) -> None:
        self.blob = blob
        self.most_nodes = most_nodes
        self.nodes = 0

    def node(self, data: Any, depth: int) -> Value:
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > self.most_nodes:
            raise TooLarge(f"a value deeper than {MAX_DEPTH} levels or of more than {self.most_nodes} parts")
        kind = type(data)  # JSON's own types, and no others, are what a parser makes
        if kind is str:
            return _writable(data)
        if kind in _NUMBERS:
            return data
        if kind is list:
            return [self.node(each, depth + 1) for each in data]
        if not isinstance(data, dict) or len(data) != 1:
            raise ProtocolError("a part that is no value")
        [(tag, body)] = data.items()
        return self.tagged(tag, body, depth)

    def tagged(self, tag: str, body: Any, depth: int) -> Value:
        if tag == "tuple" and isinstance(body, list):
            return tuple(self.node(each, depth + 1) for each in body)
        if tag == "dict" and isinstance(body, dict):
            return {_writable(key): self.node(each, depth + 1) for key, each in body.items()}
        if tag == "float" and body in ("nan", "inf", "-inf"):
            return float(body)
        if tag == "opaque" and isinstance(body, str):
            return Opaque(_writable(body[:200]))
        if tag == "bytes" and isinstance(body, list) and len(body) == 2:
            return self.slice(*body)
        if tag == "array" and isinstance(body, list) and len(body) == 5:
            return self.array(*body)
        raise ProtocolError("a part that is no value")

    def slice(self, start: Any, length: Any) -> bytes:
        if not (_is_size(start) and _is_size(length) and start + length <= len(self.blob)):
            raise ProtocolError("bytes that lie outside their frame")
        return self.blob[start : start + length]

    def array(self, dtype: Any, shape: Any, device: Any, start: Any, length: Any) -> Array:
        if not isinstance(dtype, str) or dtype not in ITEM_SIZES:
            raise ProtocolError("an array of a dtype that does not exist")
        if not isinstance(shape, list) or len(shape) > MAX_AXES or not all(_is_size(size) for size in shape):
            raise ProtocolError("an array of a shape that cannot be")
        if not isinstance(device, str):
            raise ProtocolError("an array without a device")
        if math.prod(max(size, 1) for size in shape) > MOST_PLACES:
            raise TooLarge("an array of more places than can be counted")
        data = self.slice(start, length)
        if math.prod(shape) * ITEM_SIZES[dtype] != len(data):
            raise ProtocolError("an array whose shape and bytes disagree")
        return Array(dtype, tuple(shape), data, _writable(device[:40]))


def _writable(text: str) -> str:
    """Return a text with halves of surrogate pairs written out: no file could hold them."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _is_size(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= MOST_PLACES
