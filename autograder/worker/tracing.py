"""Trace a program: record every tensor that torch makes while a probe runs, and the student's line that made it.

The student's code needs no particular names or functions: operations are recorded where they are called, in any style.
The line and columns are those of the student's frame nearest to the call.
"""

import itertools
import math
import sys
from collections.abc import Collection, Sequence
from types import CodeType
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from autograder.checks.another_device import Elsewhere
from autograder.protocol import Array, Value
from autograder.protocol.bounds import (
    BEYOND,
    TRACE_AXES,
    TRACE_DTYPE,
    TRACE_ELEMENTS,
    TRACE_FILES,
    TRACE_INPUTS,
    TRACE_NAME,
    TRACE_PLACES,
    TRACE_RESULTS,
    TRACE_STACK,
    TRACE_STEPS,
    cut,
    line_number,
)
from autograder.protocol.fingerprints import WIDTH, fingerprint, parts
from autograder.protocol.operations import is_in_place

MOST_TIMES = 12
"""How often an operation on one line is recorded: a loop repeats the same mistake every time.

A line that calls a part of an earlier exercise has many operations, one or two of each.
"""

MOST_RESULTS = 16
"""How many results of one operation are recorded, as `split` and `unbind` may return many."""


class Tracing(TorchFunctionMode):
    """Records the tensors that torch makes; with `parts`, also the slices of each along its first axes."""

    def __init__(self, own_files: Collection[str], *, parts: bool = False) -> None:
        super().__init__()
        self.files = sorted(own_files)[:TRACE_FILES]
        self.parts = parts
        self.steps: list[dict[str, Any]] = []
        self.prints: list[Any] = []
        self._alive: list[Tensor] = []
        self._made_by: dict[int, int] = {}
        self._written_by: dict[int, int] = {}
        self.places: list[list[Any]] = []
        self._places: dict[tuple[CodeType, int], int] = {}
        self._failed: list[int] = []
        self._times: dict[tuple[int, str], int] = {}
        self._last: dict[tuple[int, str], int] = {}

    def __torch_function__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        try:
            result = func(*args, **(kwargs or {}))
        except BaseException:
            self._failed = self._origins((args, kwargs))
            raise
        if len(self.steps) < TRACE_STEPS:
            self._record(func, result, args, kwargs or {})
        return result

    def as_data(self, returned: Any = None) -> dict[str, Value]:
        """Return the trace as data, with the steps that made the returned tensors, or the inputs of a failed call."""
        results = self._origins(returned) or self._failed
        prints = np.array(self.prints).reshape(-1, WIDTH)
        return {
            "files": self.files,
            "places": self.places,
            "steps": [list(step.values()) for step in self.steps],
            "results": results[:TRACE_RESULTS],
            "prints": Array("float64", prints.shape, prints.astype("<f8").tobytes()),
        }

    def _record(self, func: Any, result: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        name = _name(func)
        in_place = is_in_place(name)
        tensors = _tensors(args[0] if in_place and args else result)
        if not tensors:
            return
        inputs = self._origins((args, kwargs))
        stack, frame = self._stack()
        here = (stack[0], name) if stack else None
        if here is not None and not self._is_recorded(here):
            for tensor in tensors[:MOST_RESULTS]:
                self._made_by[id(tensor)] = self._last[here]
                self._alive.append(tensor)
            return
        for tensor in tensors[: min(MOST_RESULTS, TRACE_STEPS - len(self.steps))]:
            values = _values(tensor)
            if values is None:
                continue
            self._made_by[id(tensor)] = len(self.steps)
            if here is not None:
                self._last[here] = len(self.steps)
            else:
                self._times.clear()
            if in_place:
                self._written_by[_storage(tensor)] = len(self.steps)
            self._alive.append(tensor)  # else Python could give its id to a later tensor
            self.steps.append(
                {
                    "name": cut(name, TRACE_NAME),
                    "stack": stack,
                    "inputs": list(dict.fromkeys(inputs))[:TRACE_INPUTS],
                    "shape": list(values.shape),
                    "dtype": cut(str(tensor.dtype).removeprefix("torch."), TRACE_DTYPE),
                    "grad": bool(tensor.requires_grad),
                    "prints": self._print(values),
                    "number": _number(frame, args) if frame is not None else None,
                }
            )

    def _is_recorded(self, here: tuple[int, str]) -> bool:
        """Count a run of an operation on a line, and say whether to record it: the first `MOST_TIMES` stand for all."""
        self._times[here] = self._times.get(here, 0) + 1
        return self._times[here] <= MOST_TIMES or here not in self._last

    def _print(self, values: Any) -> list[int]:
        """Store the fingerprints of a tensor and of its slices; return the index of the first, and their number."""
        first = len(self.prints)
        self.prints.append(fingerprint(values))
        if self.parts:
            self.prints += [fingerprint(part) for part in parts(values)]
        return [first, len(self.prints) - first]

    def _origins(self, value: Any) -> list[int]:
        """Return the steps that made the tensors of a value, as far as they are recorded."""
        steps = []
        for tensor in _tensors(value):
            made, written = self._made_by.get(id(tensor)), self._written_by.get(_storage(tensor))
            if made is not None or written is not None:
                steps.append(max(step for step in (made, written) if step is not None))
        return steps

    def _stack(self) -> tuple[list[int], Any]:
        """Return the numbers of the locations in the student's frames, the nearest first, and the nearest frame."""
        stack: list[int] = []
        nearest: Any = None
        frame: Any = sys._getframe(3)  # skips this method, _record and __torch_function__
        while frame is not None and len(stack) < TRACE_STACK:
            code = frame.f_code
            if code.co_filename in self.files:
                nearest = nearest if nearest is not None else frame
                key = (code, frame.f_lasti)
                if key not in self._places:
                    if len(self.places) == TRACE_PLACES:
                        break
                    self._places[key] = len(self.places)
                    self.places.append([self.files.index(code.co_filename), *_position(frame)])
                stack.append(self._places[key])
            frame = frame.f_back
        return stack, nearest


def _position(frame: Any) -> list[Any]:
    """Return the function of a frame, and the first and last line and column of the expression it evaluates."""
    code = frame.f_code
    line, end_line, *columns = next(itertools.islice(code.co_positions(), frame.f_lasti // 2, None))
    known = [line_number(column) if column is not None else None for column in columns]
    return [cut(code.co_qualname), line_number(line), line_number(end_line), *known]


def _number(frame: Any, args: Sequence[Any]) -> list[Any] | None:
    """Return the variable that holds the plain number among an operation's arguments, and the number.

    None unless there is exactly one such number and one such variable.
    """
    numbers = [float(arg) for arg in args if type(arg) in (int, float)]
    if len(numbers) != 1:
        return None
    variables = dict(frame.f_locals)
    own = variables.pop("self", None)
    if isinstance(own, torch.nn.Module):
        variables.update({f"self.{name}": value for name, value in vars(own).items()})
    plain = {name: value for name, value in variables.items() if type(value) in (int, float)}
    names = [name for name, value in plain.items() if value == numbers[0]]
    names = names or [name for name, value in plain.items() if _is_derived(numbers[0], value)]
    return [cut(str(names[0]), TRACE_NAME), numbers[0]] if len(names) == 1 else None


def _is_derived(number: float, value: float) -> bool:
    """Say whether a number is √value, 1 / value or 1 / √value: the ways in which programs use a size as a scale."""
    if not 0 < value < BEYOND:
        return False
    root = math.sqrt(value)
    return any(math.isclose(number, scale, rel_tol=1e-9) for scale in (root, 1 / value, 1 / root))


def _name(func: Any) -> str:
    name = str(getattr(func, "__name__", ""))
    owner = getattr(func, "__self__", None)
    return str(getattr(owner, "__name__", name)) if name in ("__get__", "__set__") else name


def _tensors(value: Any, depth: int = 0) -> list[Tensor]:
    """Return the tensors of a value, also from lists, tuples and dicts up to three levels deep."""
    if isinstance(value, Tensor):
        return [value]
    if depth < 3 and isinstance(value, dict):
        return _tensors(list(value.values()), depth + 1)
    if depth < 3 and isinstance(value, list | tuple):
        return [tensor for part in value[:1000] for tensor in _tensors(part, depth + 1)]
    return []


@torch.no_grad()
def _values(tensor: Tensor) -> Any:
    """Return the elements as a NumPy array; None if there are too many, or none that can be read."""
    plain = tensor.cpu_tensor if isinstance(tensor, Elsewhere) else tensor.as_subclass(Tensor)
    if plain.layout is torch.strided and plain.is_complex():
        plain = torch.view_as_real(plain.resolve_conj())  # programs that compute with pairs make the same numbers
    if plain.is_meta or plain.layout is not torch.strided or plain.numel() > TRACE_ELEMENTS:
        return None
    if plain.dim() > TRACE_AXES or any(size > TRACE_ELEMENTS for size in plain.shape):
        return None
    here = plain.detach().cpu()
    return (here.double() if here.is_floating_point() else here).numpy().copy()


def _storage(tensor: Tensor) -> int:
    """Return the address of a tensor's memory, which its views share; 0 if it has none."""
    plain = tensor.cpu_tensor if isinstance(tensor, Elsewhere) else tensor
    try:
        return plain.untyped_storage().data_ptr()
    except RuntimeError:
        return 0
