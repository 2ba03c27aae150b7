"""Trace a program of plain Python: record what its statements leave in variables and return, with their lines.

A step is a value that a statement made: of a variable, an attribute of `self`, or a result. It is made from the values
of the names that the statement reads, and from the results of the calls within it. The judge matches steps by value, so
the names and the style of a program do not matter.
"""

import struct
import sys
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from autograder.protocol import Array, Value
from autograder.protocol.bounds import (
    ARGUMENT,
    CALL,
    TRACE_FILES,
    TRACE_INPUTS,
    TRACE_PLACES,
    TRACE_RESULTS,
    TRACE_STACK,
    TRACE_STEPS,
    VALUE,
    cut,
    line_number,
)
from autograder.worker.line_statements import SELF, Statement, statements_of
from autograder.worker.plain_values import Encoded, attributes_of, encode

MOST_TIMES = 40
"""How often a statement is recorded in one call from the check: a loop repeats the same mistake every time."""

MOST_LINES = 20_000
"""Lines of a program that are followed, so that a long loop does not take much longer than without tracing."""


@dataclass
class _Frame:
    """A running function of the student: the statement it executes, and the step of each variable."""

    frame: FrameType
    statement: Statement | None
    stack: list[int]
    values: dict[str, tuple[Any, Encoded]] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)
    called: list[int] = field(default_factory=list)
    failed: bool = False


class LineTracing:
    """Records the values that a program's own statements make, while it is the active context."""

    def __init__(self, own_files: Collection[str], sources: Mapping[str, bytes]) -> None:
        self.files = sorted(own_files)[:TRACE_FILES]
        self._modules = frozenset(name.removesuffix(".py") for name in self.files)
        self._statements = {name: statements_of(sources.get(name, b"")) for name in self.files}
        self._steps: list[list[Any]] = []
        self._numbers: list[float] = []
        self._places: list[list[Any]] = []
        self._place_of: dict[tuple[CodeType, int], int] = {}
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
            "files": self.files,
            "places": self._places,
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
        return self._lines < MOST_LINES and len(self._steps) < TRACE_STEPS and len(self._places) < TRACE_PLACES

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
        attributes = attributes_of(own.frame.f_locals.get(SELF), self._modules)
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

    def _place(self, code: CodeType, line: int, statement: Statement | None) -> int | None:
        first = statement.line if statement is not None else line
        key = code, first
        if key not in self._place_of:
            if len(self._places) == TRACE_PLACES:
                return None
            self._place_of[key] = len(self._places)
            last, columns = (statement.end_line, statement.columns) if statement is not None else (line, (None, None))
            file = self.files.index(code.co_filename)
            known = [line_number(column) if column is not None else None for column in columns]
            self._places.append([file, cut(code.co_qualname), line_number(first), line_number(last), *known])
        return self._place_of[key]


_UNCHANGING = (int, float, bool, str, bytes, type(None))


def _variables(frame: FrameType) -> dict[str, Any]:
    """Return the variables of a function that its own code binds, without those of enclosing functions."""
    here = frame.f_locals
    names = (*frame.f_code.co_varnames, *frame.f_code.co_cellvars)
    return {name: here[name] for name in names if name in here}
