"""What a program computes on its way: every tensor torch makes while a probe runs, and on which of the student's lines.

No name and no function is asked of the student: operations are seen where they are called, whatever the style, and
the line and the characters are those of the student's own frame that is nearest to the call.
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
from autograder.protocol.operations import writes
from autograder.protocol.prints import BEYOND, WIDTH, fingerprint, parts

MOST_TIMES = 12
"""So many times that a line runs are recorded: they stand for all."""

MOST_SLICES = 16


class Tracing(TorchFunctionMode):
    """Records the tensors that torch makes; with `parts`, also the slices of each along its first axes."""

    def __init__(self, own_files: Collection[str], *, parts: bool = False) -> None:
        super().__init__()
        self.files = sorted(own_files)[:TRACE_FILES]
        self.parts = parts
        self.steps: list[dict[str, Any]] = []
        self.prints: list[Any] = []
        self._kept: list[Tensor] = []
        self._made_by: dict[int, int] = {}
        self._written_by: dict[int, int] = {}
        self.places: list[list[Any]] = []
        self._places: dict[tuple[CodeType, int], int] = {}
        self._failed: list[int] = []
        self._times: dict[int, int] = {}
        self._last: dict[int, int] = {}

    def __torch_function__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        try:
            result = func(*args, **(kwargs or {}))
        except BaseException:
            self._failed = [at for each in _tensors((args, kwargs)) if (at := self._origin(each)) is not None]
            raise
        if len(self.steps) < TRACE_STEPS:
            self._record(func, result, args, kwargs or {})
        return result

    def told(self, returned: Any = None) -> dict[str, Value]:
        """Return the whole trace as data, with the steps that made what the probe returned, or what it failed on."""
        results = [at for each in _tensors(returned) if (at := self._origin(each)) is not None] or self._failed
        prints = np.array(self.prints).reshape(-1, WIDTH)
        return {
            "files": self.files,
            "places": self.places,
            "steps": [list(each.values()) for each in self.steps],
            "results": results[:TRACE_RESULTS],
            "prints": Array("float64", prints.shape, prints.astype("<f8").tobytes()),
        }

    def _record(self, func: Any, result: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        name = _name(func)
        written = writes(name)
        made = _tensors(args[0] if written and args else result)
        if not made:
            return
        inputs = [at for each in _tensors((args, kwargs)) if (at := self._origin(each)) is not None]
        stack, frame = self._stack()
        if stack and not self._counts(stack[0]):
            for tensor in made[:MOST_SLICES]:
                self._made_by[id(tensor)] = self._last[stack[0]]
                self._kept.append(tensor)
            return
        for tensor in made[: min(MOST_SLICES, TRACE_STEPS - len(self.steps))]:
            values = _values(tensor)
            if values is None:
                continue
            self._made_by[id(tensor)] = len(self.steps)
            if stack:
                self._last[stack[0]] = len(self.steps)
            else:
                self._times.clear()
            if written:
                self._written_by[_storage(tensor)] = len(self.steps)
            self._kept.append(tensor)
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

    def _counts(self, place: int) -> bool:
        """Whether a step is to be told: of what a loop does again and again, the first times stand for all."""
        self._times[place] = self._times.get(place, 0) + 1
        return self._times[place] <= MOST_TIMES or place not in self._last

    def _print(self, values: Any) -> list[int]:
        """Keep the fingerprints of a tensor and of its slices; return the first's number and how many there are."""
        first = len(self.prints)
        self.prints.append(fingerprint(values))
        if self.parts:
            self.prints += [fingerprint(each) for each in parts(values)]
        return [first, len(self.prints) - first]

    def _origin(self, tensor: Tensor) -> int | None:
        made, written = self._made_by.get(id(tensor)), self._written_by.get(_storage(tensor))
        return max((each for each in (made, written) if each is not None), default=None)

    def _stack(self) -> tuple[list[int], Any]:
        """Return the numbers of the places in the student's frames, the nearest first, and that frame."""
        found: list[int] = []
        nearest: Any = None
        frame: Any = sys._getframe(3)
        while frame is not None and len(found) < TRACE_STACK:
            code = frame.f_code
            if code.co_filename in self.files:
                nearest = nearest if nearest is not None else frame
                at = (code, frame.f_lasti)
                if at not in self._places:
                    if len(self.places) == TRACE_PLACES:
                        break
                    self._places[at] = len(self.places)
                    self.places.append([self.files.index(code.co_filename), *_position(frame)])
                found.append(self._places[at])
            frame = frame.f_back
        return found, nearest


def _position(frame: Any) -> list[Any]:
    """Return the function a frame runs, and the first and last line and column of what it is at."""
    code = frame.f_code
    line, end_line, *columns = next(itertools.islice(code.co_positions(), frame.f_lasti // 2, None))
    known = [line_number(each) if each is not None else None for each in columns]
    return [cut(code.co_qualname), line_number(line), line_number(end_line), *known]


def _number(frame: Any, args: Sequence[Any]) -> list[Any] | None:
    """Return the variable behind the plain number an operation was given, and the number, if there is just one."""
    numbers = [float(each) for each in args if type(each) in (int, float)]
    if len(numbers) != 1:
        return None
    variables = dict(frame.f_locals)
    own = variables.pop("self", None)
    if isinstance(own, torch.nn.Module):
        variables.update({f"self.{name}": value for name, value in vars(own).items()})
    plain = {name: value for name, value in variables.items() if type(value) in (int, float)}
    found = [name for name, value in plain.items() if value == numbers[0]]
    found = found or [name for name, value in plain.items() if _is_made_of(numbers[0], value)]
    return [cut(str(found[0]), TRACE_NAME), numbers[0]] if len(found) == 1 else None


def _is_made_of(number: float, value: float) -> bool:
    """Whether a number is the root of another one, or one divided by it or by its root."""
    if not 0 < value < BEYOND:
        return False
    root = math.sqrt(value)
    return any(math.isclose(number, each, rel_tol=1e-9) for each in (root, 1 / value, 1 / root))


def _name(func: Any) -> str:
    name = str(getattr(func, "__name__", ""))
    owner = getattr(func, "__self__", None)
    return str(getattr(owner, "__name__", name)) if name in ("__get__", "__set__") else name


def _tensors(value: Any, depth: int = 0) -> list[Tensor]:
    """Return the tensors of a value, or of lists, tuples and dicts of values."""
    if isinstance(value, Tensor):
        return [value]
    if depth < 3 and isinstance(value, dict):
        return _tensors(list(value.values()), depth + 1)
    if depth < 3 and isinstance(value, list | tuple):
        return [tensor for each in value[:1000] for tensor in _tensors(each, depth + 1)]
    return []


@torch.no_grad()
def _values(tensor: Tensor) -> Any:
    """Return the elements as a NumPy array; None where there are too many, or none that can be read."""
    plain = tensor.held if isinstance(tensor, Elsewhere) else tensor.as_subclass(Tensor)
    if plain.is_meta or plain.layout is not torch.strided or plain.numel() > TRACE_ELEMENTS or plain.is_complex():
        return None
    if plain.dim() > TRACE_AXES or any(size > TRACE_ELEMENTS for size in plain.shape):
        return None
    here = plain.detach().cpu()
    return (here.double() if here.is_floating_point() else here).numpy().copy()


def _storage(tensor: Tensor) -> int:
    plain = tensor.held if isinstance(tensor, Elsewhere) else tensor
    try:
        return plain.untyped_storage().data_ptr()
    except RuntimeError:
        return 0
