"""Turn the return value of a probe into plain data. Methods that a student's class overrides have no effect here."""

from typing import Any

from autograder.protocol import Opaque, Value
from autograder.protocol.bounds import (
    INT_BITS,
    OBSERVATION_DEPTH,
    OBSERVATION_KEY,
    OBSERVATION_PARTS,
    OBSERVATION_TEXT,
    cut,
)
from autograder.worker import support


def observe(value: Any, depth: int = 0) -> Value:
    """Return an observation as a plain value; an object that is not data becomes an `Opaque` with its type's name."""
    if value is None or type(value) in (bool, int, float):
        return value if not isinstance(value, int) or abs(value) < 1 << INT_BITS else Opaque("an enormous int")
    if isinstance(value, str):
        return cut(str.__str__(value), OBSERVATION_TEXT)  # past a subclass's own __str__
    if isinstance(value, bytes | bytearray):
        return bytes(memoryview(value)[:OBSERVATION_TEXT])  # past a subclass's own methods
    if (found := support.loaded().observe(value)) is not None:
        return observe(found, depth) if type(found) is int else found
    if depth < OBSERVATION_DEPTH and isinstance(value, list | tuple) and len(value) <= OBSERVATION_PARTS:
        return [observe(part, depth + 1) for part in value]
    if depth < OBSERVATION_DEPTH and isinstance(value, dict) and len(value) <= OBSERVATION_PARTS:
        parts = {cut(str(key), OBSERVATION_KEY): observe(part, depth + 1) for key, part in value.items()}
        # The keys 1 and "1" have one name, so one of their values would be lost.
        return parts if len(parts) == len(value) else Opaque("dict with two keys of one name")
    return Opaque(f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins."))
