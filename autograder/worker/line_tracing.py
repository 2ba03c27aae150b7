"""Trace a program of plain Python: record what its statements leave in variables and return, with their lines.

A step is a value that a statement made: of a variable, an attribute of `self`, or a result. It is made from the values
of the names that the statement reads, and from the results of the calls within it. The judge matches steps by value, so
the names and the style of a program do not matter.
"""

import ast
import hashlib
import itertools
import math
import struct
import sys
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, NamedTuple

from autograder.protocol import (
    ARGUMENT,
    BEYOND,
    CALL,
    PLAIN_DEPTH,
    PLAIN_NUMBERS,
    TRACE_AXES,
    TRACE_FILES,
    TRACE_INPUTS,
    TRACE_PLACES,
    TRACE_RESULTS,
    TRACE_STACK,
    TRACE_STEPS,
    VALUE,
    Array,
    Value,
    cut,
    line_number,
    text_of,
)

Position = tuple[int | None, int | None, int | None, int | None]
"""The first and last line, and the first and last column, of some code."""


class Places:
    """The files of a program, and the places in them, which the steps of a trace name by their numbers."""

    def __init__(self, own_files: Collection[str]) -> None:
        self.files = sorted(own_files)[:TRACE_FILES]
        self.rows: list[list[Any]] = []
        self._numbers: dict[tuple[CodeType, int], int] = {}

    @property
    def full(self) -> bool:
        """Whether there is no room for another one."""
        return len(self.rows) == TRACE_PLACES

    def number(self, code: CodeType, at: int, position: Callable[[], Position]) -> int | None:
        """Return the number of a place in a function, which is added unless it is known; None if there is no room."""
        key = code, at
        if key not in self._numbers:
            if self.full:
                return None
            self._numbers[key] = len(self.rows)
            first, last, *columns = position()
            known = [line_number(column) if column is not None else None for column in columns]
            file = self.files.index(code.co_filename)
            self.rows.append([file, cut(code.co_qualname), line_number(first), line_number(last), *known])
        return self._numbers[key]


def position_of(code: CodeType, instruction: int) -> Position:
    """Return the position of the expression that an instruction belongs to."""
    return next(itertools.islice(code.co_positions(), instruction // 2, None))  # 2 bytes each


# The statements of a program by line: where each is, and the names that it reads and binds.

SELF = "self"


@dataclass(frozen=True)
class TracedStatement:
    """A simple statement, or the head of a compound one: its location, and the names it reads and binds.

    `own` are the names of its comprehensions.
    """

    line: int
    end_line: int
    columns: tuple[int | None, int | None]
    reads: frozenset[str]
    binds: frozenset[str]
    own: frozenset[str]
    returned: str | None = None


def statements_of(source: bytes) -> dict[int, TracedStatement]:
    """Return the statement of each line; none of a file that cannot be read."""
    try:
        tree = ast.parse(text_of(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    lines: dict[int, TracedStatement] = {}
    for node in ast.walk(tree):  # outer statements come first, so inner ones replace them
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            statement = _statement(node)
            lines.update(dict.fromkeys(range(statement.line, statement.end_line + 1), statement))
    return lines


def _statement(node: ast.stmt) -> TracedStatement:
    bodies = [part for name in ("body", "orelse", "finalbody", "handlers", "cases") for part in getattr(node, name, [])]
    heads = [child for child in ast.iter_child_nodes(node) if child not in bodies]
    inside = [part for head in heads for part in ast.walk(head)]
    names = [(part.id, part.ctx) for part in inside if isinstance(part, ast.Name)]
    accessed = [(part, part.value) for part in inside if isinstance(part, ast.Attribute)]
    attributes = [part for part, owner in accessed if isinstance(owner, ast.Name) and owner.id == SELF]
    reads = {name for name, context in names if not isinstance(context, ast.Store)}
    if sum(name == SELF for name, _ in names) == len(attributes):
        reads.discard(SELF)  # it stands for all attributes only where it is more than the object of one
    reads |= {f"{SELF}.{part.attr}" for part in attributes}
    binds = {name for name, context in names if isinstance(context, ast.Store)}
    binds |= {f"{SELF}.{part.attr}" for part in attributes if isinstance(part.ctx, ast.Store)}
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        reads.add(node.target.id)
    loops = [part.target for part in inside if isinstance(part, ast.comprehension)]
    own = {part.id for target in loops for part in ast.walk(target) if isinstance(part, ast.Name)}
    starts = [getattr(part, "lineno", node.lineno) - 1 for part in bodies]
    end = max(node.lineno, min(starts, default=node.end_lineno or node.lineno))
    columns = (node.col_offset, node.end_col_offset) if not bodies and end == node.lineno else (None, None)
    returned = None
    if isinstance(node, ast.Return) and node.value is not None:
        returned = node.value.id if isinstance(node.value, ast.Name) else ""
    return TracedStatement(node.lineno, end, columns, frozenset(reads), frozenset(binds), frozenset(own), returned)


# Plain values as short texts, and as numbers that traces compare. No method of a student's class is called.

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


MOST_TIMES = 40
"""How often a statement is recorded in one call from the check: a loop repeats the same mistake every time."""

MOST_LINES = 20_000
"""Lines of a program that are followed, so that a long loop does not take much longer than without tracing."""


@dataclass
class _Frame:
    """A running function of the student: the statement it executes, and the step of each variable."""

    frame: FrameType
    statement: TracedStatement | None
    stack: list[int]
    values: dict[str, tuple[Any, Encoded]] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)
    called: list[int] = field(default_factory=list)
    failed: bool = False


class LineTracing:
    """Records the values that a program's own statements make, while it is the active context."""

    def __init__(self, own_files: Collection[str], sources: Mapping[str, bytes]) -> None:
        self._places = Places(own_files)
        self._modules = frozenset(name.removesuffix(".py") for name in self._places.files)
        self._statements = {name: statements_of(sources.get(name, b"")) for name in self._places.files}
        self._steps: list[list[Any]] = []
        self._numbers: list[float] = []
        self._made: dict[Encoded, int] = {}
        self._active: list[_Frame] = []
        self._times: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._failed: list[int] = []
        self._lines = 0
        self._thread = threading.get_ident()

    def __enter__(self) -> "LineTracing":
        sys.settrace(self._on_call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def as_data(self, returned: Any = None) -> dict[str, Value]:
        """Return the trace as data, with the steps that made the returned value, or those a failed statement reads."""
        results = list(self._results(returned, 3)) if returned is not None else self._failed
        return {
            "files": self._places.files,
            "places": self._places.rows,
            "steps": self._steps,
            "results": results[:TRACE_RESULTS],
            "values": Array("float64", (len(self._numbers),), struct.pack(f"<{len(self._numbers)}d", *self._numbers)),
        }

    def _results(self, value: Any, depth: int) -> Iterator[int]:
        """Yield the steps that made a value, or its parts."""
        encoded = encode(value, self._modules)
        if encoded in self._made:
            yield self._made[encoded]
        elif depth and type(value) in (list, tuple, dict):
            for part in list(value.values() if type(value) is dict else value)[:TRACE_RESULTS]:
                yield from self._results(part, depth - 1)

    # Events of the interpreter

    def _on_call(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in self._statements or code.co_name.startswith("<"):
            return None
        if event != "call" or threading.get_ident() != self._thread or not self._goes_on():
            return None
        caller = self._active[-1] if self._active else None
        own = _Frame(frame, None, caller.stack if caller is not None else [])
        if caller is not None and frame.f_back is caller.frame:
            self._bind_arguments(own, VALUE, self._inputs_of(caller), caller.stack)
        else:
            arguments = list(_variables(frame).values())
            call = self._record(CALL, [], encode(arguments, self._modules), self._origins(arguments))
            self._times.clear()
            place = self._place(code, frame.f_code.co_firstlineno, None)
            inputs, stack = [call] if call is not None else [], [place] if place is not None else []
            self._bind_arguments(own, ARGUMENT, inputs, stack)
        self._active.append(own)
        return self._on_event

    def _on_event(self, frame: FrameType, event: str, argument: Any) -> Any:
        own = self._active[-1] if self._active else None
        if own is None or own.frame is not frame:
            return None
        if event == "line":
            self._lines += 1
            self._end_statement(own)
            self._begin_statement(own, frame.f_lineno)
            if not self._goes_on():
                sys.settrace(None)
        elif event == "exception":
            own.failed = True
            if not self._failed:
                self._failed = self._inputs_of(own)
        elif event == "return":
            self._end_statement(own)
            self._active.pop()
            if not own.failed:
                self._return(own, argument)
        return self._on_event

    def _goes_on(self) -> bool:
        return self._lines < MOST_LINES and len(self._steps) < TRACE_STEPS and not self._places.full

    # Statements

    def _begin_statement(self, own: _Frame, line: int) -> None:
        own.failed = False
        self._failed = []
        own.statement = self._statements[own.frame.f_code.co_filename].get(line)
        own.called = []
        place = self._place(own.frame.f_code, line, own.statement)
        outer = self._active[-2].stack if len(self._active) > 1 else []
        own.stack = [*([place] if place is not None else []), *outer][:TRACE_STACK]

    def _end_statement(self, own: _Frame) -> None:
        """Record what the statement changed in the variables of its function."""
        if own.statement is None:
            return
        inputs: list[int] | None = None
        for name, value in self._variables(own).items():
            if name in own.values and own.values[name][0] is value and type(value) in _UNCHANGING:
                continue
            encoded = encode(value, self._modules)
            if encoded is None or (name in own.values and own.values[name][1] == encoded):
                continue
            own.values[name] = value, encoded
            made = self._made.get(encoded)
            if made is None or made not in own.called:
                inputs = self._inputs_of(own) if inputs is None else inputs
                made = self._record(VALUE, own.stack, encoded, self._with_former(own, name, inputs))
            if made is not None:
                own.steps[name] = made

    def _with_former(self, own: _Frame, name: str, inputs: list[int]) -> list[int]:
        """Return the inputs of a variable's new value: also its former value, if the statement only changed a part."""
        if name not in own.steps or (own.statement is not None and name in own.statement.binds):
            return inputs
        return list(dict.fromkeys([own.steps[name], *inputs]))[:TRACE_INPUTS]

    def _variables(self, own: _Frame) -> dict[str, Any]:
        """Return the variables of a function, and the attributes of its `self`."""
        variables = {name: value for name, value in _variables(own.frame).items() if name != SELF}
        owner = own.frame.f_locals.get(SELF)
        attributes = _attributes(owner) if type(owner).__dict__.get("__module__") in self._modules else {}
        bound = own.statement.own if own.statement is not None else frozenset()
        named = {name: value for name, value in variables.items() if name not in bound}
        return {**named, **{f"{SELF}.{name}": value for name, value in attributes.items()}}

    def _return(self, own: _Frame, value: Any) -> None:
        """Hand the result of a function to the statement that called it."""
        encoded = encode(value, self._modules)
        if encoded is None or own.statement is None or (value is None and own.statement.returned is None):
            return
        made = own.steps.get(own.statement.returned or "")
        if made is None or own.values[own.statement.returned or ""][1] != encoded:
            made = self._made.get(encoded)
            if made is None or made not in own.called:
                made = self._record(VALUE, own.stack, encoded, self._inputs_of(own))
        if made is not None:
            self._made[encoded] = made
            if self._active:
                self._active[-1].called.append(made)

    def _bind_arguments(self, own: _Frame, made_by: str, inputs: list[int], stack: list[int]) -> None:
        """Note the arguments of a call: the check made them, or the statement of the student that calls."""
        for name, value in self._variables(own).items():
            encoded = encode(value, self._modules)
            if encoded is None:
                continue
            own.values[name] = value, encoded
            made = next((step for step in inputs if self._made.get(encoded) == step), None)
            if made is None:
                made = self._record(made_by, stack, encoded, inputs)
            if made is not None:
                own.steps[name] = made

    def _inputs_of(self, own: _Frame) -> list[int]:
        """Return the steps that the running statement is made from."""
        reads = own.statement.reads if own.statement is not None else frozenset()
        whole = SELF in reads
        read = [step for name, step in own.steps.items() if name in reads or (whole and name.startswith(f"{SELF}."))]
        return list(dict.fromkeys([*read, *own.called]))[:TRACE_INPUTS]

    def _origins(self, values: Iterable[Any]) -> list[int]:
        """Return the steps that made some values, as far as they are recorded."""
        encoded = (encode(value, self._modules) for value in values)
        found = dict.fromkeys(self._made[value] for value in encoded if value is not None and value in self._made)
        return list(found)[:TRACE_INPUTS]

    # Steps and places

    def _record(self, name: str, stack: list[int], encoded: Encoded | None, inputs: Sequence[int]) -> int | None:
        """Add a step, and return its number; None if there is no room, or the statement has been recorded enough."""
        if encoded is None or len(self._steps) == TRACE_STEPS:
            return None
        if stack:
            self._times[stack[0]] = self._times.get(stack[0], 0) + 1
            if self._times[stack[0]] > MOST_TIMES:
                return self._last.get(stack[0])
        number = len(self._steps)
        if stack:
            self._last[stack[0]] = number
        self._numbers += encoded.numbers
        form = [list(encoded.shape), encoded.kind, False, [number, 1], None]
        self._steps.append([name, list(stack), list(inputs), *form])
        self._made[encoded] = number
        return number

    def _place(self, code: CodeType, line: int, statement: TracedStatement | None) -> int | None:
        if statement is None:
            return self._places.number(code, line, lambda: (line, line, None, None))
        position = statement.line, statement.end_line, *statement.columns
        return self._places.number(code, statement.line, lambda: position)


_UNCHANGING = (int, float, bool, str, bytes, type(None))


def _variables(frame: FrameType) -> dict[str, Any]:
    """Return the variables of a function that its own code binds, without those of enclosing functions."""
    here = frame.f_locals
    names = (*frame.f_code.co_varnames, *frame.f_code.co_cellvars)
    return {name: here[name] for name in names if name in here}
