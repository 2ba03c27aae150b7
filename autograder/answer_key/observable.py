"""What a solution's observation must be, so that another one can be compared with it."""

from collections.abc import Iterable, Iterator

from autograder.protocol import Opaque, Value
from autograder.protocol.bounds import INT_BITS, OBSERVATION_DEPTH, OBSERVATION_KEY, OBSERVATION_PARTS, OBSERVATION_TEXT

_NOTHING = 'returns None in every trial; return what the code computes, or {"result": None} if None is right'
_DATA = "return its numbers, texts, lists or dicts"
_TOO_MUCH = f"a collection of more than {OBSERVATION_PARTS} parts or {OBSERVATION_DEPTH} levels"
_LONG_TEXT = f"a text or bytes of length {OBSERVATION_TEXT} or more"
_LONG_KEY = f"a dict with a key of {OBSERVATION_KEY} or more characters"
_SHORTER = "return its length, a part of it, or a digest (hashlib)"


def observation_problem(observed: Iterable[Value]) -> str:
    """Return why the observations of a check prove nothing, as the end of a sentence about it; "" if they do."""
    values = list(observed)
    if values and all(value is None for value in values):
        return _NOTHING
    found = next((problem for value in values for problem in _problems(value)), None)
    return "" if found is None else f"returns {found[0]}, which cannot be compared; {found[1]}"


def _problems(value: Value) -> Iterator[tuple[str, str]]:
    """Yield what cannot be compared in an observation, and what to return in its place."""
    match value:
        case Opaque("set" | "frozenset" as name):
            yield f"an object of the type {name}", "return sorted(...) of it"
        case Opaque("list" | "tuple" | "dict"):
            yield _TOO_MUCH, _DATA
        case Opaque("an enormous int"):
            yield f"an int of {INT_BITS} bits or more", "return str(...) of it"
        case Opaque(name):
            yield f"an object of the type {name}", _DATA
        # A worker cuts longer ones to this length, so of two that are cut nobody knows whether they are equal.
        case str() | bytes() if len(value) >= OBSERVATION_TEXT:
            yield _LONG_TEXT, _SHORTER
        case dict() if any(len(key) >= OBSERVATION_KEY for key in value):
            yield _LONG_KEY, _SHORTER
        case dict():
            yield from (problem for part in value.values() for problem in _problems(part))
        case list() | tuple():
            yield from (problem for part in value for problem in _problems(part))
