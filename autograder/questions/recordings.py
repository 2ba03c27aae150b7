"""What the functions of a program get, compute and return: a copy of the program prints it while its checks run.

The copy runs in a worker, like every edit of a program. What it prints is read as hostile data: it only ever becomes
the text of a question.
"""

import ast
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from autograder.edits import Edit, Text, is_text

MARK = "\x1frecorded "
MOST_BYTES = 1 << 18
"""A longer program is none of an exercise, and not parsed here."""

MOST_NUMBERS = 24
"""Numbers of a tensor that are recorded one by one; of a larger one only its shape and three sums."""

MOST_RECORDS, LONGEST_RECORD = 2000, 1500
"""Together less than a program may print."""

MOST_ITEMS = 6
LONGEST_TEXT = 40

RECORDER = f'''
def _record(kind, name, value, line=0, seen=[0], show=print):
    """Print a value; at most {MOST_RECORDS} in all."""
    seen[0] += 1
    if seen[0] > {MOST_RECORDS}:
        return value
    from json import dumps
    from math import cos

    def described(value, depth=0):
        if value is None or type(value) is bool or (type(value) in (int, float) and abs(value) < 1e15):
            return ["plain", value]
        if type(value) is str and len(value) <= {LONGEST_TEXT}:
            return ["plain", value]
        if hasattr(value, "tolist") and hasattr(value, "shape"):
            numbers = (value.detach() if hasattr(value, "detach") else value).reshape(-1).tolist()
            sums = [sum(n * cos(f * i) for i, n in enumerate(numbers)) for f in (0.0, 0.3713, 2.2361)]
            sums.append(sum(abs(n) for n in numbers))
            shown = numbers if len(numbers) <= {MOST_NUMBERS} else []
            return ["array", list(value.shape), str(value.dtype).split(".")[-1], shown, sums]
        if isinstance(value, (list, tuple)):
            few = depth < 3 and len(value) <= {MOST_ITEMS}
            kind = "tuple" if isinstance(value, tuple) else "list"
            return [kind, len(value), [described(part, depth + 1) for part in value] if few else []]
        return ["other", type(value).__name__]

    try:
        data = {{key: described(part) for key, part in value.items()}} if kind == "call" else described(value)
        text = dumps([seen[0], kind, name, line, data])
        show({MARK!r} + (text if len(text) <= {LONGEST_RECORD} else dumps([seen[0], kind, name, line, None])))
    except Exception:
        show({MARK!r} + dumps([seen[0], kind, name, line, None]))
    return value
'''


@dataclass(frozen=True)
class Item:
    """A recorded value: plain, a tensor with its shape, a list or tuple, or the name of another type.

    `numbers` are those of a small tensor, `sums` tell tensors apart. `length` is that of a list, `parts` its items.
    """

    kind: str
    plain: object = None
    shape: tuple[int, ...] = ()
    numbers: tuple[float, ...] = ()
    sums: tuple[float, ...] = ()
    length: int = 0
    parts: tuple["Item", ...] = ()
    type: str = ""

    @property
    def facts(self) -> object:
        """What is seen of the value without its size and its numbers: None, a plain value, or how many axes it has."""
        if self.kind == "plain":
            return self.plain if self.plain is None or type(self.plain) in (bool, int, str) else type(self.plain)
        return self.kind, self.type, len(self.shape)

    @property
    def is_whole(self) -> bool:
        """Whether every number of it was recorded."""
        if self.kind in ("list", "tuple"):
            return len(self.parts) == self.length and all(part.is_whole for part in self.parts)
        return self.kind == "plain" or (self.kind == "array" and len(self.numbers) == math.prod(self.shape))


@dataclass
class Call:
    """One call of a function: its arguments, the values that its lines gave to variables, and what it returned.

    `made` are the arguments with which the object of a method was made; None if objects differ in them.
    """

    function: str
    arguments: Mapping[str, Item]
    made: Mapping[str, Item] | None
    values: list[tuple[int, str, Item]] = field(default_factory=list)
    result: Item | None = None
    returned_at: int = 0

    def runs(self, line: int) -> bool:
        """Whether the call ran a line that gives a value to a variable, or returns."""
        return self.returned_at == line or any(number == line for number, _, _ in self.values)


def parsed(source: str) -> ast.Module | None:
    """Return the tree of a program that a worker has parsed before; None if it cannot be had."""
    if len(source) > MOST_BYTES:
        return None
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def functions_of(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions of a program and the methods of its classes, by name, without generators."""
    for node in tree.body:
        owner = [(f"{node.name}.", part) for part in node.body] if isinstance(node, ast.ClassDef) else [("", node)]
        for prefix, one in owner:
            if not isinstance(one, ast.FunctionDef) or one.body[0].lineno == one.lineno:
                continue
            if not any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(one)):
                yield f"{prefix}{one.name}", one


def statements_of(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """Yield the statements of a function, those of its blocks too, without those of functions in it."""
    waiting: list[ast.stmt] = [*function.body]
    while waiting:
        statement = waiting.pop(0)
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        yield statement
        for block in ("body", "orelse", "finalbody"):
            waiting += getattr(statement, block, [])
        for handler in getattr(statement, "handlers", []):
            waiting += handler.body


def named_by(statement: ast.stmt) -> str | None:
    """Return the variable that a statement gives a value to, if it does just that."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
            return name
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return name
    return None


def recording(source: str) -> str | None:
    """Return a copy of a program that prints what its functions compute; None if it cannot be made."""
    tree = parsed(source)
    first = next((node for node in tree.body if not is_text(node) and not _is_future(node)), None) if tree else None
    if tree is None or first is None:
        return None
    text = Text(source)
    edits = [text.inserted(first, f"{RECORDER.strip()}\n", before=True)]
    for name, function in functions_of(tree):
        own = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        own = [*own[1:], *_keywords(function)] if "." in name and own[:1] == ["self"] else [*own, *_keywords(function)]
        arguments = ", ".join(f"{argument!r}: {argument}" for argument in own)
        begin = next((one for one in function.body if not is_text(one)), None)
        if begin is None or not text.has_own_lines(begin):
            continue
        edits.append(text.inserted(begin, f"_record('call', {name!r}, {{{arguments}}})", before=True))
        for statement in statements_of(function):
            if isinstance(statement, ast.Return) and statement.value is not None:
                start, end = text.span(statement.value)
                returned = f"_record('return', {name!r}, (\n{source[start:end]}\n), {statement.lineno})"
                edits.append(Edit(statement.lineno, start, end, returned))
            elif (variable := named_by(statement)) and text.has_own_lines(statement):
                noted = f"_record('value', {f'{name} {variable}'!r}, {variable}, {statement.lineno})"
                edits.append(text.inserted(statement, noted))
    for edit in sorted(edits, key=lambda edit: -edit.start):
        source = edit.applied(source)
    return source


def _keywords(function: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in function.args.kwonlyargs]


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def read_calls(printed: str) -> list[Call]:
    """Return the calls that a recording printed, in the order in which they began; none if a record was lost."""
    records = [*_records(printed)]
    if any(after[0] != before[0] + 1 for before, after in pairwise(records)):
        return []  # what a call did not print would look as if it had not run
    calls: list[Call] = []
    open_calls: list[Call] = []
    made: dict[str, list[Mapping[str, Item]]] = {}
    for _, kind, name, line, data in records:
        if kind == "call" and isinstance(data, dict):
            owner, _, method = name.rpartition(".")
            if method == "__init__":
                made.setdefault(owner, []).append(data)
            known = made.get(owner, [])
            same = known[:1] if all(_whole_text(one) == _whole_text(known[0]) for one in known) else []
            call = Call(name, data, same[0] if same else None if owner else {})
            calls.append(call)
            open_calls.append(call)
        elif kind == "return" and any(call.function == name for call in open_calls):
            while (call := open_calls.pop()).function != name:
                pass
            call.result, call.returned_at = data if isinstance(data, Item) else None, line
        elif kind == "value" and open_calls and isinstance(data, Item):
            function, _, variable = name.rpartition(" ")
            if open_calls[-1].function == function:
                open_calls[-1].values.append((line, variable, data))
    return calls


def _whole_text(arguments: Mapping[str, Item]) -> str:
    return arguments_text(arguments, whole=True)


def _records(printed: str) -> Iterator[tuple[int, str, str, int, "Item | dict[str, Item] | None"]]:
    for line in printed.split("\n"):
        _, found, text = line.partition(MARK)
        if not found:
            continue
        try:
            at, kind, name, number, data = json.loads(text)
            if not (isinstance(kind, str) and isinstance(name, str) and type(at) is type(number) is int):
                continue
            if isinstance(data, dict):
                yield at, kind, name, number, {str(key): _item(part) for key, part in data.items()}
            else:
                yield at, kind, name, number, _item(data) if data is not None else Item("other")
        except (ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError):
            continue


def _item(data: Any) -> Item:
    """Return a recorded value; raises ValueError or TypeError for one that no recorder prints."""
    match data:
        case ["plain", None | bool() | int() | float() | str() as plain]:
            return Item("plain", plain=plain)
        case ["array", list() as shape, str() as dtype, list() as numbers, list() as sums] if len(shape) <= 8:
            sizes = tuple(int(size) for size in shape)
            return Item("array", None, sizes, tuple(map(float, numbers)), tuple(map(float, sums)), type=dtype)
        case ["list" | "tuple" as kind, int() as length, list() as parts]:
            return Item(kind, length=length, parts=tuple(map(_item, parts)))
        case ["other", str() as name]:
            return Item("other", type=name)
    raise ValueError("a record of an unknown form")


# Values as a question shows them.


LONGEST_ROW = 72
"""Characters of arguments that fit into one line."""


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as Python writes it."""
    return str(tuple(shape))


def value_text(item: Item) -> str:
    """Return a whole value as Python writes it, a tensor as rows of numbers."""
    if item.kind == "array":
        return _rows(list(item.numbers), item.shape, item.type)
    if item.kind in ("list", "tuple"):
        inner = ", ".join(map(value_text, item.parts))
        return f"[{inner}]" if item.kind == "list" else f"({inner}{',' if item.length == 1 else ''})"
    return repr(item.plain) if item.kind == "plain" else item.type


def _rows(numbers: list[float], shape: Sequence[int], dtype: str) -> str:
    if not shape:
        return "True" if dtype == "bool" and numbers[0] else "False" if dtype == "bool" else f"{numbers[0]:.4g}"
    step = len(numbers) // shape[0] if shape[0] else 0
    parts = [_rows(numbers[at * step : (at + 1) * step], shape[1:], dtype) for at in range(shape[0])]
    return f"[{', '.join(parts)}]"


def argument_text(name: str, item: Item, *, whole: bool = False) -> str:
    """Return an argument with its value, if that is plain or wanted `whole`, else with its shape or length."""
    if item.kind == "plain" or (whole and item.is_whole):
        return f"{name}={value_text(item)}"
    if item.kind == "array":
        return f"{name} {shape_text(item.shape)}{' of bool' if item.type == 'bool' else ''}"
    if item.kind == "other":
        return f"{name}: {item.type}"
    whole_item = item.is_whole and all(part.kind == "plain" for part in item.parts)
    return f"{name}={value_text(item)}" if whole_item else f"{name}: a {item.kind} of {item.length}"


def arguments_text(arguments: Mapping[str, Item], *, whole: bool = False) -> str:
    """Return all arguments of a call."""
    return ", ".join(argument_text(name, item, whole=whole) for name, item in arguments.items())


def call_text(call: Call) -> str:
    """Return a call with its arguments; that of a method with those with which its object was made."""
    owner, _, method = call.function.rpartition(".")
    arguments = arguments_text(call.arguments)
    return f"{owner}({arguments_text(call.made or {})}).{method}({arguments})" if owner else f"{method}({arguments})"


def given_text(call: Call, *, whole: bool = False) -> tuple[str, ...]:
    """Return what a call gets, with a line for each argument."""
    owner, _, method = call.function.rpartition(".")
    made = [f"{owner}({arguments_text(call.made or {}, whole=whole)})"] if owner else []
    arguments = [argument_text(name, item, whole=whole) for name, item in call.arguments.items()]
    if sum(map(len, arguments)) < LONGEST_ROW:
        arguments = [", ".join(arguments)]
    return (*made, *(f"{method} gets {argument}" if not at else argument for at, argument in enumerate(arguments)))


# Whether two results are the same.

ALIKE, APART = 1e-5, 1e-2
"""Relative differences of what counts as equal, and as different; a question about anything between has no answer."""


def are_equal(one: Item | None, other: Item | None) -> bool | None:
    """Say whether two results are equal; None if they are too near to say. None as a result is an exception."""
    if one is None or other is None:
        return one is other
    if "other" in (one.kind, other.kind):
        return None
    if (one.kind, one.shape, one.length) != (other.kind, other.shape, other.length):
        return False
    if one.kind == "array":
        if one.type != other.type:
            return None  # a dtype alone is no difference that a question should turn on
        return _are_near(one.sums, other.sums)
    if one.kind == "plain" and type(one.plain) is type(other.plain) is float:
        return _are_near((float(str(one.plain)),), (float(str(other.plain)),))
    if one.kind in ("list", "tuple"):
        if len(one.parts) != one.length or len(other.parts) != other.length:
            return None
        parts = [are_equal(*pair) for pair in zip(one.parts, other.parts, strict=True)]
        return False if False in parts else None if None in parts else True
    return one.plain == other.plain


def _are_near(one: Sequence[float], other: Sequence[float]) -> bool | None:
    if [math.isfinite(n) for n in one] != [math.isfinite(n) for n in other]:
        return False
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if math.isfinite(a) and math.isfinite(b)]
    if any(not math.isfinite(n) for n in (*one, *other)):
        return None
    scale = max([abs(n) for pair in pairs for n in pair], default=0.0) or 1.0
    furthest = max((abs(a - b) for a, b in pairs), default=0.0) / scale
    return True if furthest <= ALIKE else False if furthest >= APART else None


NAME = re.compile(r"rand|multinomial|dropout|shuffle|sample|generator|\bseed", re.IGNORECASE)
"""Words of a function that may draw: no question asks for its numbers."""


def may_draw(text: str, arguments: Iterable[Item]) -> bool:
    """Whether the numbers of a call may depend on something that a question does not show."""
    return bool(NAME.search(text)) or not all(item.is_whole for item in arguments)
