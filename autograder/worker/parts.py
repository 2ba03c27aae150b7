"""Build reference parts, which replace a student's wrong exercise, from tables of numbers.

The tables are data of the job (see `autograder.protocol.part_code`). They become functions and classes before any of
the student's code runs. While it runs, `build` refuses, so that a submission cannot build the answers for itself.
"""

import importlib
import json
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any

from autograder.protocol.part_code import (
    CALL,
    CLASS,
    FORMAT,
    FUNCTION,
    JUMP,
    MOVE,
    NEXT,
    RETURN,
    TUPLE,
    UNLESS,
)

Row = tuple[Any, ...]

_closed = False


class PartError(Exception):
    """A reference part cannot be built, or may not be built now."""


def build(data: bytes, module: str) -> dict[str, Any]:
    """Return the functions and classes of a part by name, as if `module` defined them. Raises `PartError`."""
    if _closed:
        raise PartError("only the checks may build a reference part")
    part = json.loads(data)
    if part.get("format") != FORMAT:
        raise PartError(f"{module}: the reference part has format {part.get('format')}, expected {FORMAT}")
    pool: list[Any] = [None] * len(part["pool"])
    texts = part["pool"]
    items: list[Any] = []
    for kind, name, *rest in part["items"]:
        item = _function(texts, pool, *rest) if kind == FUNCTION else _class(kind, items, *rest)
        item.__name__ = item.__qualname__ = texts[name]
        item.__module__ = module
        items.append(item)
    # The pool is the end of each function's registers, so that -1 is its first entry.
    pool[:] = [_constant(entry, items) for entry in reversed(texts)]
    return {name: items[number] for name, number in part["exports"].items()}


def close(closed: bool) -> None:
    """Refuse to build parts from now on, as a student's code may run, or allow it again."""
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
    names = dotted.split(".")
    owner: Any = importlib.import_module(names[0])
    for name in names[1:]:
        owner = getattr(owner, name)
    return owner


def _class(kind: int, items: Sequence[Any], methods: Sequence[int]) -> type:
    from autograder.checks.weights import ReferencePart

    bases = (ReferencePart,) if kind == CLASS else ()
    return type("part", bases, {items[number].__name__: items[number] for number in methods})


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
    signature = _signature([texts[name] for name in names], [texts[default] for default in defaults])

    def part(*args: Any, **named: Any) -> Any:
        if named or len(args) != len(names):
            args = _bound(part.__name__, signature, args, named)
        return _run(code, [*args, *blank, *pool])

    part.__signature__ = signature  # type: ignore[attr-defined]
    return part


def _signature(names: Sequence[str], defaults: Sequence[Any]) -> Signature:
    padded = [Parameter.empty] * (len(names) - len(defaults)) + list(defaults)
    kind = Parameter.POSITIONAL_OR_KEYWORD
    return Signature([Parameter(name, kind, default=default) for name, default in zip(names, padded, strict=True)])


def _bound(name: str, signature: Signature, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    try:
        bound = signature.bind(*args, **named)
    except TypeError as error:
        raise TypeError(f"{name}() was called with the wrong arguments: {error}") from None
    bound.apply_defaults()
    return tuple(bound.arguments.values())


def _row(row: Sequence[int], texts: Sequence[Any]) -> Row:
    """Return a row in the form that `_run` reads: positional and keyword operands of a call are separate tuples."""
    if row[0] != CALL:
        return tuple(row)
    _, target, callee, count, *operands = row
    rest = operands[count:]
    named = tuple((texts[-1 - key], operand) for key, operand in zip(rest[::2], rest[1::2], strict=True))
    return CALL, target, callee, tuple(operands[:count]), named


def _run(code: Sequence[Row], registers: list[Any]) -> Any:
    """Run the rows of a function until it returns or raises; the most frequent operations come first."""
    counter = 0
    while True:
        row = code[counter]
        counter += 1
        operation = row[0]
        if operation == CALL:
            _, target, callee, operands, named = row
            args = [registers[operand] for operand in operands]
            registers[target] = registers[callee](*args, **{name: registers[operand] for name, operand in named})
        elif operation == TUPLE:
            registers[row[1]] = tuple([registers[operand] for operand in row[2:]])
        elif operation == MOVE:
            registers[row[1]] = registers[row[2]]
        elif operation == JUMP:
            counter = row[1]
        elif operation == UNLESS:
            counter = counter if registers[row[1]] else row[2]
        elif operation == NEXT:
            try:
                registers[row[1]] = next(registers[row[2]])
            except StopIteration:
                counter = row[3]
        elif operation == RETURN:
            return registers[row[1]]
        else:
            raise ValueError(registers[row[1]])
