"""What a worker does for torch: inputs, observations, resets, traces and bans."""

import contextlib
import importlib
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from autograder.checks.another_device import NAME, DeviceMixError, Elsewhere
from autograder.checks.given import Given, seed_torch
from autograder.protocol import Array, Opaque, Value
from autograder.protocol.bounds import OBSERVATION_ELEMENTS, cut
from autograder.protocol.values import ITEM_SIZES, MAX_AXES
from autograder.worker import forbidden_calls, library_guard
from autograder.worker.arrays import fill_unset_arrays, number_of
from autograder.worker.bans import Ban, Bans, forbid
from autograder.worker.support import PlainSupport, Trace
from autograder.worker.tracing import Tracing

OWN = "torch"

OPTIMIZERS = b"optim"
"""What checks mention if they, or the programs that they run, make an optimizer of torch."""

_IMPORTS_TORCH = re.compile(rb"^[ \t]*(?:import|from)\b[^#\n]*\btorch\b", re.MULTILINE)


class TensorSupport(PlainSupport):
    """Support for a course with torch."""

    def start(self) -> None:
        library_guard.watch_imports()
        torch.set_num_threads(1)
        fill_unset_arrays()

    def missing_device(self, name: str) -> str | None:
        try:
            torch.zeros(1, device=name)
        except (RuntimeError, AssertionError) as error:
            first = str(error).splitlines()[0]
            return f"the device {name} cannot be used here ({first}); leave --device out to check on the CPU"
        return None

    def given(self, seed: int, sizes: Mapping[str, int], device: str, *, exact: bool, traced: bool) -> Given:
        return Given(seed, sizes, device, exact=exact, traced=traced)

    def reset(self, seed: int, device: str) -> None:
        seed_torch(seed)
        torch.backends.mha.set_fastpath_enabled(False)
        _fill_unset_tensors(device)
        np.random.seed(seed)
        super().reset(seed, device)
        if torch.get_default_dtype() != torch.float32:
            torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        if not torch.is_grad_enabled():
            torch.set_grad_enabled(True)

    def observe(self, value: Any) -> Value | None:
        if isinstance(value, Tensor):
            return _array(value)
        if isinstance(value, torch.dtype | torch.device):
            return str(value)
        return number_of(value)

    def tracing(self, names: Collection[str], files: Mapping[str, bytes], *, parts: bool) -> Trace:
        # A program that does not import torch makes no tensors: the values of its lines show more.
        if all(name in files and not _IMPORTS_TORCH.search(files[name]) for name in names):
            return super().tracing(names, files, parts=parts)
        return Tracing(names, parts=parts)

    @contextlib.contextmanager
    def forbid(self, names: Sequence[str], files: Collection[str]) -> Iterator[Ban]:
        """Forbid the names of torch everywhere, and the others in the student's files."""
        own = [name for name in names if _is_own(name)]
        others = [name for name in names if not _is_own(name)]
        with forbidden_calls.forbid(own) as ban, forbid(others, files) as other:
            yield Bans((ban, other))

    def prepare(self, checks: bytes) -> None:
        if OPTIMIZERS in checks:
            # The first optimizer imports it. That takes a second or two, which no check should be charged for.
            importlib.import_module("torch._dynamo")

    def withhold(self, names: Collection[str]) -> None:
        forbidden_calls.withhold_kernels([name for name in names if _is_own(name)])

    def fault_kind(self, error: BaseException) -> str | None:
        return "device" if type(error) is DeviceMixError else None

    def misplaced(self, frame: FrameType, error: BaseException) -> str | None:
        if type(error) is not DeviceMixError:
            return None
        own = frame.f_locals.get("self")
        named = [*((f"self.{name}", value) for name, value in _attributes(own)), *frame.f_locals.items()]
        names = [name for name, value in named if isinstance(value, Tensor) and _shares(value, error.tensor)]
        return cut(names[0]) if names else None

    def values(self, frame: FrameType, names: Sequence[str]) -> list[tuple[str, str]]:
        try:
            meant = dict(pair for name in names for pair in _meant(frame, name))
        except Exception:  # a module may have methods of its own that raise
            meant = {}
        tensors = [(name, value) for name, value in {**meant, **frame.f_locals}.items() if isinstance(value, Tensor)]
        with torch._C.DisableTorchFunctionSubclass():  # a subclass may run the student's code on any access
            return [
                (name, f"{tuple(value.shape)} {str(value.dtype).removeprefix('torch.')}") for name, value in tensors
            ]

    def warm_up(self, checks: Mapping[str, bytes]) -> None:
        from autograder.worker.sandbox import warm_tensors

        warm_tensors.warm(checks)

    def guard(self) -> None:
        library_guard.guard_loaded()


def _fill_unset_tensors(device: str) -> None:
    """Let `torch.empty` return NaN, or the largest integer, so that equal programs give equal numbers.

    Else it returns what the memory held before: often zeros, which may be the right answer by chance. On a GPU, torch
    does this only together with slower operators, and with warnings that a student would see, so it is left there.
    """
    # `torch.use_deterministic_algorithms` does this too, but imports the compiler first, which takes two seconds.
    torch._C._set_deterministic_algorithms(device == "cpu", warn_only=True)
    torch._C._set_deterministic_fill_uninitialized_memory(True)


def _is_own(name: str) -> bool:
    return f"{name}.".startswith(f"{OWN}.")


def _array(tensor: Tensor) -> Value:
    device = NAME if isinstance(tensor, Elsewhere) else str(tensor.device)
    plain = tensor.cpu_tensor.detach() if isinstance(tensor, Elsewhere) else tensor.detach()
    if type(plain) is not Tensor:  # a subclass could answer for itself in everything below
        plain = plain.as_subclass(Tensor)
    dtype = str(plain.dtype).removeprefix("torch.")
    if plain.dim() > MAX_AXES:
        return Opaque(f"a tensor of {plain.dim()} axes")
    if dtype not in ITEM_SIZES or plain.layout is not torch.strided or plain.is_quantized:
        return Opaque(f"a {dtype} tensor of layout {plain.layout}")
    if plain.is_meta or math.prod(plain.shape) > OBSERVATION_ELEMENTS:
        return Opaque(f"a tensor of shape {tuple(plain.shape)} on {plain.device}")
    here = (plain if plain.is_cpu else plain.cpu()).resolve_neg()
    if here.dtype == torch.bfloat16:  # NumPy has no such dtype: send its bytes
        here = here.contiguous().view(torch.int16)
    return Array(dtype, tuple(plain.shape), here.numpy().tobytes(), device)


def _attributes(owner: object) -> list[tuple[str, object]]:
    if not isinstance(owner, nn.Module):
        return []
    return [*vars(owner).items(), *owner.named_buffers(), *owner.named_parameters()]


def _shares(one: Tensor, other: Tensor) -> bool:
    """Say whether two CPU tensors share memory, as a view shares that of its tensor."""
    return one is other or (
        not isinstance(one, Elsewhere)
        and not isinstance(other, Elsewhere)
        and one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
    )


def _meant(frame: FrameType, name: str) -> Iterator[tuple[str, object]]:
    """Yield what a name in a frame means, under its name: a variable, an attribute, or the parameters of a layer."""
    owner, _, attribute = name.partition(".")
    value = frame.f_locals.get(owner)
    if not attribute:
        yield name, value
        return
    for own, part in _attributes(value):
        if attribute in (own, own.rpartition(".")[0]):
            yield f"{owner}.{own}", part
