"""What a solution's observation must be, so that another one can be compared with it."""

from collections.abc import Iterable, Iterator

from autograder.protocol import Opaque, Value
from autograder.protocol.bounds import OBSERVATION_DEPTH, OBSERVATION_PARTS

_NOTHING = 'returns None in every trial; return what the code computes, or {"result": None} if None is right'
_TOO_MUCH = f"a collection of more than {OBSERVATION_PARTS} parts or {OBSERVATION_DEPTH} levels"


def observation_problem(observed: Iterable[Value]) -> str:
    """Return why the observations of a check prove nothing, as the end of a sentence about it; "" if they do."""
    values = list(observed)
    if values and all(value is None for value in values):
        return _NOTHING
    names = [name for value in values for name in _opaque(value)]
    if not names:
        return ""
    what = _TOO_MUCH if names[0] in ("list", "tuple", "dict") else f"an object of the type {names[0]}"
    how = (
        "return sorted(...) of it" if names[0] in ("set", "frozenset") else "return its numbers, texts, lists or dicts"
    )
    return f"returns {what}, which cannot be compared; {how}"


def _opaque(value: Value) -> Iterator[str]:
    """Yield the type names of what is no data in an observation."""
    if isinstance(value, Opaque):
        yield value.type_name
    elif isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _opaque(part)
