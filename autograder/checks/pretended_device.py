"""Pretend that this machine has another device: tensors hold real values and report that they are elsewhere.

Inside `another_device()` a tensor made on, or moved to, the device `meta` is an `Elsewhere`: a wrapper around a CPU
tensor. Operations unwrap it, follow the rules of an accelerator, compute on the CPU and wrap the result. So every
value equals that of a run on the CPU, branches and `.item()` included. A tensor left behind on the CPU is noticed at
the operation that combines it with tensors of the device.
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
"""Functions that make a tensor from Python numbers."""

MAKING_LIKE = {Tensor.new_tensor, Tensor.new}
"""Methods that make such a tensor on the device of their own tensor."""

READING = {Tensor.tolist, Tensor.__format__}
"""Methods that turn a tensor into Python objects."""

INDEXING_IN_PYTHON = {Tensor.__getitem__, Tensor.__setitem__}

SETTING_DATA = Tensor.data.__set__  # type: ignore[attr-defined]

SPECIAL = frozenset({*MAKING, *MAKING_LIKE, *READING, *INDEXING_IN_PYTHON, Tensor.numpy, SETTING_DATA})
"""Functions that never reach the dispatcher, or only with other arguments."""


class DeviceMixError(RuntimeError):
    """An operation got tensors of two devices; `tensor` is the one on the wrong device."""

    def __init__(self, sentence: str, tensor: Tensor) -> None:
        super().__init__(sentence)
        self.tensor = tensor


class Elsewhere(Tensor):
    """A tensor with real values that reports another device."""

    cpu_tensor: Tensor

    @staticmethod
    def __new__(cls, cpu_tensor: Tensor) -> "Elsewhere":
        wrapper: Elsewhere = Tensor._make_wrapper_subclass(
            cls,
            cpu_tensor.shape,
            strides=cpu_tensor.stride(),
            storage_offset=cpu_tensor.storage_offset(),
            dtype=cpu_tensor.dtype,
            layout=cpu_tensor.layout,
            device=DEVICE,
            requires_grad=False,
        )
        wrapper.cpu_tensor = cpu_tensor
        return wrapper

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"{self.cpu_tensor!r} (elsewhere)"

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return compute(func, args, kwargs or {})


@contextmanager
def another_device() -> Iterator[torch.device]:
    """Make `meta` a device that computes, within the block."""
    with _Operations(), _Python():  # type: ignore[no-untyped-call]
        yield DEVICE


class _Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Tell torch not to prepare compilation under this mode: loading its compiler takes a second or more."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return compute(func, args, kwargs or {})


class _Python(TorchFunctionMode):
    """Handles what bypasses the dispatcher: Python lists and numbers, NumPy arrays, and the inference mode.

    The inference mode runs as `no_grad`, which gives the same values, since it takes short cuts past the dispatcher.
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
        return func(first.cpu_tensor, *args[1:])
    if func is Tensor.numpy:
        raise DeviceMixError("numpy: an array is always on the CPU, and this tensor is not", first)
    if func in MAKING_LIKE:
        others = {name: value for name, value in kwargs.items() if name != "device"}
        return func(first.cpu_tensor, *_unwrap(args[1:], []), **others).to(kwargs.get("device") or DEVICE)
    if func in INDEXING_IN_PYTHON:
        return func(first, _index(args[1]), *args[2:])
    if func == SETTING_DATA and isinstance(args[1], Elsewhere):
        first.cpu_tensor = args[1].cpu_tensor
    return func(*args, **kwargs)


def _index(value: Any) -> Any:
    """Return an index with its lists of numbers as CPU tensors: torch would make meta tensors, without any numbers."""
    if isinstance(value, tuple):
        return tuple(_index(part) for part in value)
    if isinstance(value, list) and not all(isinstance(number, np.bool_ | np.integer | int) for number in value):
        return [_index(part) for part in value]
    if isinstance(value, list | range | np.ndarray):
        index = torch.as_tensor(value)
        return index if index.numel() else index.long()  # an empty list becomes a float tensor, which is no index
    return value


def compute(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Run one operation by the rules of an accelerator; raises `DeviceMixError`."""
    tensors: list[Tensor] = []
    real_args = _unwrap(args, tensors)
    real_kwargs = {name: _unwrap(value, tensors) for name, value in kwargs.items()}
    wrappers = {id(tensor.cpu_tensor): tensor for tensor in tensors if isinstance(tensor, Elsewhere)}
    elsewhere = bool(wrappers)
    if elsewhere and len(wrappers) < len(tensors) and func not in CROSSING:
        _refuse_mixing(func, args, tensors)
    if (target := kwargs.get("device")) is not None:
        real_kwargs["device"] = torch.device("cpu")
        elsewhere = torch.device(target).type == DEVICE.type
    real = func(*real_args, **real_kwargs)
    if not elsewhere:
        return real
    if _reshapes(func):
        with no_dispatch():
            func(*args, **kwargs)  # unsqueeze_ and the like: the wrapper has to take the new shape as well
    return _wrap(real, wrappers)


@cache
def _reshapes(func: Any) -> bool:
    return torch.Tag.inplace_view in func.tags


def _refuse_mixing(func: Any, args: Sequence[Any], tensors: Sequence[Tensor]) -> None:
    """Raise `DeviceMixError` for the first tensor that an accelerator would refuse; 0-d tensors may be on the CPU."""
    indices: list[Tensor] = []
    if func in INDEXING and len(args) > 1:
        _unwrap(args[1], indices)
    for tensor in tensors:
        if not isinstance(tensor, Elsewhere) and tensor.dim() > 0 and not any(tensor is index for index in indices):
            sentence = f"a tensor of shape {tuple(tensor.shape)} is on the CPU, the others are not"
            raise DeviceMixError(f"{func.overloadpacket.__name__}: {sentence}", tensor)


def _unwrap(value: Any, tensors: list[Tensor]) -> Any:
    """Return a value with the CPU tensor in place of each wrapper; append every tensor found to `tensors`."""
    if isinstance(value, Tensor):
        tensors.append(value)
        return value.cpu_tensor if isinstance(value, Elsewhere) else value
    if isinstance(value, list):
        return [_unwrap(part, tensors) for part in value]
    if isinstance(value, tuple) and not isinstance(value, torch.Size):
        return tuple([_unwrap(part, tensors) for part in value])
    return value


def _wrap(value: Any, wrappers: Mapping[int, Elsewhere]) -> Any:
    """Wrap a result. An argument that was changed in place keeps its wrapper, so that it stays the same object."""
    if isinstance(value, Tensor):
        own = wrappers.get(id(value))
        return own if own is not None else value if isinstance(value, Elsewhere) else Elsewhere(value)
    if isinstance(value, list | tuple):
        return type(value)([_wrap(part, wrappers) for part in value])
    return value
