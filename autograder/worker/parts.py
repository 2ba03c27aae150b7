"""Reference parts: what takes the place of a student's wrong exercise, run from tables of numbers.

The tables are data of the job (see `autograder.protocol.part_code`). They become functions and classes before any of
the student's code runs, and only then: a submission that asks for more of them gets none.
"""

import importlib
import json
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any

from autograder.protocol.part_code import CALL, FORMAT, FUNCTION, JUMP, MOVE, NEXT, RETURN, TUPLE, UNLESS

Row = tuple[Any, ...]

_closed = False


class PartError(Exception):
    """A reference part that cannot be built."""


def build(data: bytes, module: str) -> dict[str, Any]:
    """Return the functions and classes of a part by their names, as if `module` defined them. Raises `PartError`."""
    if _closed:
        raise PartError("a reference part is built by the checks alone")
    part = json.loads(data)
    if part.get("format") != FORMAT:
        raise PartError(f"{module}: the reference part has format {part.get('format')}, expected {FORMAT}")
    pool: list[Any] = [None] * len(part["pool"])
    texts = part["pool"]
    items: list[Any] = []
    for kind, name, *rest in part["items"]:
        made = _function(texts, pool, *rest) if kind == FUNCTION else _class(items, *rest)
        made.__name__ = made.__qualname__ = texts[name]
        made.__module__ = module
        items.append(made)
    # The pool is the end of each function's registers, so that -1 is its first entry.
    pool[:] = [_constant(entry, items) for entry in reversed(texts)]
    return {name: items[number] for name, number in part["exports"].items()}


def close(closed: bool) -> None:
    """Refuse to build parts, while a student's code may run, or allow it again."""
    global _closed
    _closed = closed


def _constant(entry: Any, items: Sequence[Any]) -> Any:
    match entry:
        case [int(number)]:
            return items[number]
        case [str(dotted)]:
            return _library(dotted)
    return entry


def _library(dotted: str) -> Any:
    parts = dotted.split(".")
    found: Any = importlib.import_module(parts[0])
    for part in parts[1:]:
        found = getattr(found, part)
    return found


def _class(items: Sequence[Any], methods: Sequence[int]) -> type:
    from autograder.checks.weights import ReferencePart

    return type("part", (ReferencePart,), {items[each].__name__: items[each] for each in methods})


def _function(
    texts: Sequence[Any],
    pool: list[Any],
    registers: int,
    names: Sequence[int],
    defaults: Sequence[int],
    rows: Sequence[Sequence[int]],
) -> Callable[..., Any]:
    code = [_row(row, texts) for row in rows]
    blank = [None] * (registers - len(names))
    signature = _signature([texts[each] for each in names], [texts[each] for each in defaults])

    def part(*args: Any, **named: Any) -> Any:
        if named or len(args) != len(names):
            args = _bound(part.__name__, signature, args, named)
        return _run(code, [*args, *blank, *pool])

    part.__signature__ = signature  # type: ignore[attr-defined]
    return part


def _signature(names: Sequence[str], defaults: Sequence[Any]) -> Signature:
    given = [Parameter.empty] * (len(names) - len(defaults)) + list(defaults)
    kind = Parameter.POSITIONAL_OR_KEYWORD
    return Signature([Parameter(name, kind, default=each) for name, each in zip(names, given, strict=True)])


def _bound(name: str, signature: Signature, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    try:
        bound = signature.bind(*args, **named)
    except TypeError as error:
        raise TypeError(f"{name}() got other arguments than it takes: {error}") from None
    bound.apply_defaults()
    return tuple(bound.arguments.values())


def _row(row: Sequence[int], texts: Sequence[Any]) -> Row:
    """Return a row in the form that is run: a call has its operands, and its keywords, side by side."""
    if row[0] != CALL:
        return tuple(row)
    _, target, callee, count, *operands = row
    rest = operands[count:]
    named = tuple((texts[-1 - key], operand) for key, operand in zip(rest[::2], rest[1::2], strict=True))
    return CALL, target, callee, tuple(operands[:count]), named


def _run(code: Sequence[Row], registers: list[Any]) -> Any:
    at = 0
    while True:
        row = code[at]
        at += 1
        does = row[0]
        if does == CALL:
            _, target, callee, operands, named = row
            args = [registers[each] for each in operands]
            registers[target] = registers[callee](*args, **{name: registers[each] for name, each in named})
        elif does == TUPLE:
            registers[row[1]] = tuple([registers[each] for each in row[2:]])
        elif does == MOVE:
            registers[row[1]] = registers[row[2]]
        elif does == JUMP:
            at = row[1]
        elif does == UNLESS:
            at = at if registers[row[1]] else row[2]
        elif does == NEXT:
            try:
                registers[row[1]] = next(registers[row[2]])
            except StopIteration:
                at = row[3]
        elif does == RETURN:
            return registers[row[1]]
        else:
            raise ValueError(registers[row[1]])
