"""Another device on a machine that has none: tensors that hold real values and report that they lie elsewhere.

Inside `another_device()` a tensor made on, or moved to, the device `meta` is an `Elsewhere`: a wrapper around a CPU
tensor. Operations unwrap it, follow the rules of an accelerator, compute on the CPU and wrap the result. So every
value equals that of a run on the CPU, branches and `.item()` included, and a tensor that was left behind on the CPU is
noticed at the operation where it meets the others.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

NAME = "elsewhere"
DEVICE = torch.device("meta")

aten = torch.ops.aten

CROSSING = {aten.copy_.default, aten._to_copy.default}
"""Operations that may take tensors of both devices."""

INDEXING = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default}
"""Operations whose index tensors may stay on the CPU."""

MAKING = {torch.tensor, torch.as_tensor, torch.asarray}
"""Functions that make a tensor of Python's numbers."""

MAKING_LIKE = {Tensor.new_tensor, Tensor.new}
"""Methods that make one on the tensor's own device."""

READING = {Tensor.tolist, Tensor.__format__}
"""Methods that make something of Python's of a tensor."""

INDEXING_IN_PYTHON = {Tensor.__getitem__, Tensor.__setitem__}

SETTING_DATA = Tensor.data.__set__  # type: ignore[attr-defined]

SPECIAL = frozenset({*MAKING, *MAKING_LIKE, *READING, *INDEXING_IN_PYTHON, Tensor.numpy, SETTING_DATA})
"""All that does not go to the dispatcher as it is."""


class DeviceMixError(RuntimeError):
    """A tensor is on the wrong device for an operation; `tensor` is the one."""

    def __init__(self, sentence: str, tensor: Tensor) -> None:
        super().__init__(sentence)
        self.tensor = tensor


class Elsewhere(Tensor):
    """A tensor with real values that reports another device."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> "Elsewhere":
        made: Elsewhere = Tensor._make_wrapper_subclass(
            cls,
            held.shape,
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            layout=held.layout,
            device=DEVICE,
            requires_grad=False,
        )
        made.held = held
        return made

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"{self.held!r} (elsewhere)"

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return compute(func, args, kwargs or {})


@contextmanager
def another_device() -> Iterator[torch.device]:
    """Within it, `meta` is a device that computes."""
    with _Operations(), _Python():  # type: ignore[no-untyped-call]
        yield DEVICE


class _Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Say that nothing is compiled under this mode: else torch would load its compiler, for a second or more."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return compute(func, args, kwargs or {})


class _Python(TorchFunctionMode):
    """What passes the dispatcher by: Python's lists and numbers, NumPy's arrays, and the inference mode.

    That mode runs as `no_grad`, which gives the same values: in it torch takes short cuts past the dispatcher.
    """

    def __torch_function__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if not torch.is_inference_mode_enabled():
            return _in_python(func, args, kwargs or {})
        with torch.inference_mode(False), torch.no_grad():
            return _in_python(func, args, kwargs or {})


def _in_python(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    if func not in SPECIAL:
        return func(*args, **kwargs)
    first = args[0] if args else None
    if func in MAKING:
        if isinstance(first, list | tuple):
            args = [_unwrap(first, []), *args[1:]]
        if torch.device(kwargs.get("device") or "cpu").type == DEVICE.type:
            return func(*args, **{**kwargs, "device": "cpu"}).to(DEVICE)
    if not isinstance(first, Elsewhere):
        return func(*args, **kwargs)
    if func in READING:
        return func(first.held, *args[1:])
    if func is Tensor.numpy:
        raise DeviceMixError("numpy: an array lies on the CPU, the tensor does not", first)
    if func in MAKING_LIKE:
        others = {name: value for name, value in kwargs.items() if name != "device"}
        return func(first.held, *_unwrap(args[1:], []), **others).to(kwargs.get("device") or DEVICE)
    if func in INDEXING_IN_PYTHON:
        return func(first, _index(args[1]), *args[2:])
    if func == SETTING_DATA and isinstance(args[1], Elsewhere):
        first.held = args[1].held
    return func(*args, **kwargs)


def _index(value: Any) -> Any:
    """Return an index with its lists of numbers as tensors: torch would make them on the device, without a number."""
    if isinstance(value, tuple):
        return tuple(_index(each) for each in value)
    if isinstance(value, list) and not all(isinstance(each, np.bool_ | np.integer | int) for each in value):
        return [_index(each) for each in value]
    if isinstance(value, list | range | np.ndarray):
        made = torch.as_tensor(value)
        return made if made.numel() else made.long()
    return value


def compute(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Run one operation by the rules of an accelerator; raises `DeviceMixError`."""
    tensors: list[Tensor] = []
    real_args = _unwrap(args, tensors)
    real_kwargs = {name: _unwrap(value, tensors) for name, value in kwargs.items()}
    known = {id(each.held): each for each in tensors if isinstance(each, Elsewhere)}
    elsewhere = bool(known)
    if elsewhere and len(known) < len(tensors) and func not in CROSSING:
        _refuse_mixing(func, args, tensors)
    if (target := kwargs.get("device")) is not None:
        real_kwargs["device"] = torch.device("cpu")
        elsewhere = torch.device(target).type == DEVICE.type
    real = func(*real_args, **real_kwargs)
    if not elsewhere:
        return real
    if _reshapes(func):
        with no_dispatch():
            func(*args, **kwargs)  # unsqueeze_ and its like: the wrapper takes the new shape as well
    return _wrap(real, known)


@cache
def _reshapes(func: Any) -> bool:
    return torch.Tag.inplace_view in func.tags


def _refuse_mixing(func: Any, args: Sequence[Any], tensors: Sequence[Tensor]) -> None:
    free: list[Tensor] = []
    if func in INDEXING and len(args) > 1:
        _unwrap(args[1], free)
    for each in tensors:
        if not isinstance(each, Elsewhere) and each.dim() > 0 and not any(each is other for other in free):
            left = f"a tensor of shape {tuple(each.shape)} is on the CPU, the others are not"
            raise DeviceMixError(f"{func.overloadpacket.__name__}: {left}", each)


def _unwrap(value: Any, tensors: list[Tensor]) -> Any:
    """Return a value, or lists and tuples of values, with what each wrapper holds; `tensors` gets all there are."""
    if isinstance(value, Tensor):
        tensors.append(value)
        return value.held if isinstance(value, Elsewhere) else value
    if isinstance(value, list):
        return [_unwrap(each, tensors) for each in value]
    if isinstance(value, tuple) and not isinstance(value, torch.Size):
        return tuple([_unwrap(each, tensors) for each in value])
    return value


def _wrap(value: Any, known: Mapping[int, Elsewhere]) -> Any:
    """Wrap a result: one that is an argument, changed in place, is that argument again."""
    if isinstance(value, Tensor):
        own = known.get(id(value))
        return own if own is not None else value if isinstance(value, Elsewhere) else Elsewhere(value)
    if isinstance(value, list | tuple):
        return type(value)([_wrap(each, known) for each in value])
    return value
