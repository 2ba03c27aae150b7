"""Plain values as short texts, and as numbers that traces compare. No method of a student's class is called."""

import hashlib
import math
import sys
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from autograder.protocol.bounds import BEYOND, PLAIN_DEPTH, PLAIN_NUMBERS, TRACE_AXES

SHOWN_ITEMS = 8
SHOWN_TEXT = 60
"""Characters of a value beside an exception."""

MOST_BITS = 128
"""Larger numbers are described, because Python refuses to write very long ones."""

NAME_OF = type.__dict__["__name__"].__get__
"""Reads the name of a class past its metaclass, which a student may have written."""


def describe(value: Any, depth: int = 2) -> str | None:
    """Return a plain value as a short text; None for a value of another type."""
    if type(value) is int and value.bit_length() > MOST_BITS:
        return f"an int of {value.bit_length()} bits"
    if value is None or type(value) in (bool, int, float):
        return repr(value)
    if type(value) in (str, bytes):
        return _shortened(repr(value[:SHOWN_TEXT]))
    if type(value) not in (list, tuple, dict, set, frozenset):
        return None
    kind = f"{NAME_OF(type(value))} of {len(value)}"
    if not value or not depth or type(value) in (set, frozenset):  # sets have no order to show
        return kind
    pairs = value.items() if type(value) is dict else ((None, item) for item in value)
    texts = [_item(key, item, depth - 1) for _, (key, item) in zip(range(SHOWN_ITEMS), pairs, strict=False)]
    return _shortened(f"{kind}: {', '.join([*texts, *(['…'] if len(value) > SHOWN_ITEMS else [])])}")


def _item(key: Any, item: Any, depth: int) -> str:
    text = describe(item, depth) or NAME_OF(type(item))
    return text if key is None else f"{describe(key, 0) or '?'}: {text}"


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN_TEXT else f"{text[: SHOWN_TEXT - 1]}…"


class Encoded(NamedTuple):
    """A value as numbers: its kind, its shape, and so many numbers in C order."""

    kind: str
    shape: tuple[int, ...]
    numbers: tuple[float, ...]


KINDS: Mapping[type, str] = {bool: "truth", int: "int", float: "float"}


class _TooLarge(Exception):
    """A value has too many parts, or one that is no data."""


def encode(value: Any, own_modules: Collection[str]) -> Encoded | None:
    """Return a value as numbers; None if it is too large or no data. Objects of the student's classes are data.

    Numbers, lists of numbers and arrays keep their shape. Everything else becomes one row of numbers: digests of texts,
    numbers on a logarithmic scale, and marks for the structure.
    """
    kind = KINDS.get(type(value))
    if kind is not None:
        return Encoded(kind, (), (_number(value),))
    try:
        array = _array(value)
        if array is not None:
            return array
        row = tuple(_row(value, own_modules, [], PLAIN_DEPTH))
    except (_TooLarge, RecursionError, RuntimeError):  # RuntimeError: another thread changes a dict or a set
        return None
    return Encoded("text" if type(value) is str else "object", (len(row),), row) if row else None


def _number(value: float) -> float:
    """Return a number within the bounds of fingerprints: a digest in place of a very large one."""
    if type(value) is float and not math.isfinite(value):
        return value
    if -BEYOND < value < BEYOND:
        return float(value)
    text = hex(value) if isinstance(value, int) else f"{value:.9g}"
    digest = BEYOND * (0.5 + 0.5 * _digests(text)[0])
    return digest if value > 0 else -digest


def _digests(text: str) -> tuple[float, float]:
    """Return two numbers from 0 to 1 that depend on every character of a text."""
    data = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(data[:4], "big") / 2**32, int.from_bytes(data[4:], "big") / 2**32


def _array(value: Any) -> Encoded | None:
    """Return lists of numbers, equally long at each depth, or an array of NumPy; None for every other value."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and type(value) is numpy.ndarray:
        kind = {"b": "truth", "i": "int", "u": "int", "f": "float"}.get(value.dtype.kind)
        if kind is None or value.size > PLAIN_NUMBERS or value.ndim > TRACE_AXES:
            raise _TooLarge
        return Encoded(kind, value.shape, tuple(map(_number, value.ravel().tolist())))
    if type(value) not in (list, tuple) or not value:
        return None
    shape: list[int] = []
    level = list(value)
    while level and type(level[0]) in (list, tuple) and len(shape) < PLAIN_DEPTH:
        shape.append(len(level[0]))
        if any(type(item) not in (list, tuple) or len(item) != shape[-1] for item in level):
            return None
        level = [part for item in level for part in item]
        if len(level) > PLAIN_NUMBERS:
            raise _TooLarge
    kinds = {KINDS.get(type(item)) for item in level}
    if not level or None in kinds or len(level) > PLAIN_NUMBERS:
        return None
    kind = "float" if "float" in kinds else "int" if "int" in kinds else "truth"
    return Encoded(kind, (len(value), *shape), tuple(map(_number, level)))


TEXT, BYTES, NOTHING, SEQUENCE, SET, TABLE, OBJECT, AGAIN, DEEP = (
    0.11, 0.17, 0.23, 0.37, 0.41, 0.53, 0.67, 0.79, 0.89,
)  # fmt: skip
"""Marks for the structure of a value."""

OBJECT_DEPTH = 3
"""Levels that an object counts for: its attributes may lead to every other object of the program."""


def _row(value: Any, own_modules: Collection[str], above: list[int], depth: int) -> Iterator[float]:
    """Yield the numbers of a value. Raises `_TooLarge`."""
    if id(value) in above:
        yield AGAIN
        return
    above = [*above, id(value)]
    if depth < 0:
        yield DEEP
    elif value is None:
        yield NOTHING
    elif type(value) in KINDS:
        yield math.asinh(_number(value))
    elif type(value) is str:
        yield from (TEXT, *_digests(value))
    elif type(value) in (bytes, bytearray):
        yield from (BYTES, *_digests(bytes(value).decode("latin-1")))
    else:
        mark, parts = _parts(value, own_modules)
        yield mark + len(parts)
        count, inside = 0, depth - (OBJECT_DEPTH if mark == OBJECT else 1)
        for part in parts:
            for number in _row(part, own_modules, above, inside):
                count += 1
                if count > PLAIN_NUMBERS:
                    raise _TooLarge
                yield number


def _parts(value: Any, own_modules: Collection[str]) -> tuple[float, list[Any]]:
    """Return a mark for the structure of a value, and its parts. Raises `_TooLarge` for a value that is no data."""
    kind = type(value)
    for base in (list, tuple, deque):
        if issubclass(kind, base):
            return SEQUENCE, list(base.__iter__(value))  # past a subclass's own `__iter__`
    for unordered in (set, frozenset):
        if issubclass(kind, unordered):
            items = list(unordered.__iter__(value))
            keys = [tuple(_row(item, own_modules, [], 1)) for item in items]
            return SET, [items[i] for i in sorted(range(len(items)), key=keys.__getitem__)]
    if issubclass(kind, dict):
        return TABLE, [part for pair in dict.items(value) for part in pair]
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and kind is numpy.ndarray:
        return SEQUENCE, value.tolist() if value.ndim else [value.item()]
    if numpy is not None and isinstance(value, numpy.number | numpy.bool_):
        return SEQUENCE, [value.item()]
    if kind.__dict__.get("__module__") in own_modules:
        return OBJECT, list(_attributes(value).values())
    raise _TooLarge


def _attributes(value: Any) -> Mapping[str, Any]:
    """Return the attributes of an object that are data, past its class's own `__getattribute__`."""
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return {name: part for name, part in sorted(attributes.items()) if not callable(part)}


def attributes_of(value: Any, own_modules: Collection[str]) -> Mapping[str, Any]:
    """Return the attributes of an object of a student's class; none of every other value."""
    return _attributes(value) if type(value).__dict__.get("__module__") in own_modules else {}
