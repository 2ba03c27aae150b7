"""What a worker does for torch: inputs, observations, resets, traces and bans."""

import contextlib
import importlib
import math
import re
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch._ops import HigherOrderOperator
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from autograder.checks import NAME, DeviceMixError, Elsewhere, Given, another_device, seed_torch
from autograder.protocol import (
    BEYOND,
    ITEM_SIZES,
    MAX_AXES,
    OBSERVATION_ELEMENTS,
    TRACE_AXES,
    TRACE_DTYPE,
    TRACE_ELEMENTS,
    TRACE_INPUTS,
    TRACE_NAME,
    TRACE_RESULTS,
    TRACE_STACK,
    TRACE_STEPS,
    WIDTH,
    Array,
    Opaque,
    Value,
    cut,
    fingerprint,
    is_in_place,
    part_fingerprints,
)

from .arrays import fill_unset_arrays, number_of
from .line_tracing import Places, position_of
from .support import PlainSupport, Trace
from .syntax import Ban, forbid, refusing, resolve

# Trace a program: record every tensor that torch makes while a probe runs, and the student's line that made it.
#
# The student's code needs no particular names or functions: operations are recorded where they are called, in any
# style. The line and columns are those of the student's frame nearest to the call.

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
        self.places = Places(own_files)
        self.parts = parts
        self.steps: list[dict[str, Any]] = []
        self.prints: list[Any] = []
        self._alive: list[Tensor] = []
        self._made_by: dict[int, int] = {}
        self._written_by: dict[int, int] = {}
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
            "files": self.places.files,
            "places": self.places.rows,
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
            self.prints += part_fingerprints(values)
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
            if code.co_filename in self.places.files:
                nearest = nearest if nearest is not None else frame
                place = self.places.number(code, frame.f_lasti, partial(position_of, code, frame.f_lasti))
                if place is None:
                    break
                stack.append(place)
            frame = frame.f_back
        return stack, nearest


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


OWN = "torch"

OPTIMIZERS = b"optim"
"""What checks mention if they, or the programs that they run, make an optimizer of torch."""

_IMPORTS_TORCH = re.compile(rb"^[ \t]*(?:import|from)\b[^#\n]*\btorch\b", re.MULTILINE)


class TensorSupport(PlainSupport):
    """Support for a course with torch."""

    def start(self) -> None:
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
        with forbid_calls(own), forbid(others, files) as ban:
            yield ban

    def prepare(self, checks: bytes) -> None:
        if OPTIMIZERS in checks:
            # The first optimizer imports it. That takes a second or two, which no check should be charged for.
            importlib.import_module("torch._dynamo")

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
        # It is trained only if a check mentions optimisers, which load torch's compiler (1 s).
        _run_model(trained=any(OPTIMIZERS in source for source in checks.values()))
        for dtype in (torch.float32, torch.float64):
            _compute(torch.device("cpu"), dtype)
        with another_device() as device:
            _compute(device, torch.float32)
        for bits in range(MOST_BITS):
            fingerprint(np.ones(1 << bits))


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


# Forbid the calls of torch that an exercise names, for as long as it runs.
#
# `syntax` refuses the calls that a file mentions, and shows a person every odd way to one. In between is what a
# program does plainly and no text shows: a layer of torch that calls a forbidden function, or one that an earlier file
# of the student calls. So an operator is removed from torch's dispatcher, and a Python function gets code that refuses.

_ALL_KEYS = (
    *("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"),
    *("CPU", "CUDA", "MPS", "XPU", "AutocastCPU", "AutocastCUDA", "AutocastMPS", "FuncTorchBatched"),
    *("FuncTorchVmapMode", "FuncTorchBatchedDecomposition", "QuantizedCPU", "NestedTensorCPU"),
    *("MkldnnCPU", "SparseCPU"),
)
KEYS = tuple(key for key in _ALL_KEYS if torch._C._parse_dispatch_key(key) is not None)  # 2.4 has no AutocastMPS
"""The dispatch keys under which torch may have a kernel that computes an operator's result."""


@contextlib.contextmanager
def forbid_calls(names: Sequence[str]) -> Iterator[None]:
    """Make the functions and operators of these names raise `ForbiddenCallError` within the block.

    A name with `*` matches operators only: `torch.*layer_norm` matches `torch.ops.aten.native_layer_norm`, among
    others.
    """
    libraries = dict[str, Any]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a deprecated object of torch warns when it is looked at
        functions = _functions(names)
    original = {function: function.__code__ for function in functions}
    try:
        for function, name in functions.items():
            function.__code__ = _refusing_code(name, len(function.__code__.co_freevars))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of a kernel that replaces another
            for (space, operator, key), name in _operators(tuple(names)).items():
                if space not in libraries:
                    libraries[space] = torch._C._dispatch_library("IMPL", space, "")
                libraries[space].impl(operator, key, refusing(name))
        yield
    finally:
        for library in libraries.values():
            library.reset()
        for function, code in original.items():
            function.__code__ = code


@lru_cache(maxsize=1024)
def _refusing_code(name: str, free: int) -> CodeType:
    """Return code that refuses; Python accepts only code with as many free variables as the function has."""
    cells = "".join(f"c{number}, " for number in range(free))
    text = f"def outer({cells}):\n def call(*_, **__):\n  refuse = 'refuse'\n  refuse()\n  ({cells})\n return call"
    names: dict[str, Any] = {}
    exec(text, names)
    code: CodeType = names["outer"](*range(free)).__code__
    return code.replace(co_consts=tuple(refusing(name) if const == "refuse" else const for const in code.co_consts))


def _functions(names: Iterable[str]) -> dict[FunctionType, str]:
    """Return the Python functions of these names; for a class or a module, all functions defined in it.

    A function that calls the operator of its name is not included, since the operator itself is disabled.
    """
    functions: dict[FunctionType, str] = {}
    for name in names:
        for owner in () if "*" in name or _operators((name,)) else (resolve(name), sys.modules.get(name)):
            for function in _functions_of(owner):
                functions.setdefault(function, name)
    return functions


def _functions_of(owner: object) -> Iterator[FunctionType]:
    match owner:
        case FunctionType():
            yield owner
        case type():
            yield from (value for value in vars(owner).values() if isinstance(value, FunctionType))
        case HigherOrderOperator():
            yield from _functions_of(type(owner))
        case ModuleType():
            yield from _defined_in(owner)


@lru_cache(maxsize=256)
def _defined_in(module: ModuleType) -> Sequence[FunctionType]:
    """Return the functions that a module of torch defines; cached, since they never change."""
    own = [value for value in vars(module).values() if isinstance(value, FunctionType | type)]
    return [function for owner in own if owner.__module__ == module.__name__ for function in _functions_of(owner)]


@lru_cache(maxsize=256)
def _operators(names: tuple[str, ...]) -> Mapping[tuple[str, str, str], str]:
    """Return the kernels of the operators of these names, each with the dotted name that its refusal shows."""
    kernels: dict[tuple[str, str, str], str] = {}
    for name in names:
        for space, operator in _operators_of(name):
            for full in _overloads()[space, operator]:
                for key in KEYS:
                    if torch._C._dispatch_has_kernel_for_dispatch_key(f"{space}::{full}", key):
                        kernels.setdefault((space, full, key), _public(space, operator) if "*" in name else name)
    return kernels


def _operators_of(name: str) -> Iterable[tuple[str, str]]:
    """Return namespace and name of the operators that a dotted name, or a pattern with `*`, matches."""
    if "*" in name:
        return [operator for operator in _overloads() if fnmatchcase(f"torch.ops.{'.'.join(operator)}", name)]
    *_, owner, leaf = name.split(".")
    # torch.linalg.norm, for one, is the operator aten::linalg_norm
    return [operator for operator in (("aten", leaf), ("aten", f"{owner}_{leaf}")) if operator in _overloads()]


@lru_cache(maxsize=1)
def _overloads() -> Mapping[tuple[str, str], Sequence[str]]:
    """Return the overloads of every operator of every namespace."""
    overloads: dict[tuple[str, str], list[str]] = {}
    for qualified in torch._C._dispatch_get_all_op_names():
        space, full = qualified.split("::")
        overloads.setdefault((space, full.split(".")[0]), []).append(full)
    return overloads


def _public(space: str, operator: str) -> str:
    """Return the shortest dotted Python name of an operator."""
    for owner in ("torch", "torch.nn.functional") if space == "aten" else ():
        if not operator.startswith("_") and hasattr(resolve(owner), operator):
            return f"{owner}.{operator}"
    return f"torch.ops.{space}.{operator}"


# Warm up torch: the first step of an optimiser loads 800 modules, and each operator's first use is slow.

MOST_BITS = 13
"""Most of the arrays that a traced program makes have fewer than 2**13 elements."""


def _run_model(*, trained: bool) -> None:
    """Run a small model from torch's own modules."""
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 5))
    for kind in (torch.optim.AdamW, torch.optim.Adam):
        loss = functional.cross_entropy(model(torch.randn(3, 4)), torch.tensor([1, 2, 3]))
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if trained:
            optimiser = kind(model.parameters())
            optimiser.step()
            optimiser.zero_grad()
    model.load_state_dict(model.state_dict())
    torch.multinomial(torch.rand(2, 5), 1)


def _compute(device: Any, dtype: Any) -> None:
    """Run common operators forwards and backwards."""
    numbers = torch.arange(12, device=device).remainder(5)
    table = torch.ones(5, 4, dtype=dtype).to(device).requires_grad_()
    rows = table.index_select(0, numbers).view(3, 1, 4, 4) * 0.5 + table[numbers[:4]].unsqueeze(0)
    mask = torch.ones(4, 4, dtype=torch.bool, device=device).tril() & (numbers.view(3, 4) != 0).unsqueeze(1)
    products = torch.matmul(rows, rows.transpose(-2, -1)) / 2.0
    filled = torch.where(mask.unsqueeze(1), products, products.masked_fill(~mask.unsqueeze(1), float("-inf")))
    shares = torch.exp(filled - filled.amax(-1, keepdim=True).detach())
    shares = torch.dropout(shares / shares.sum(-1, keepdim=True).clamp(min=1e-6), 0.1, True)
    mixed = shares.nan_to_num() @ rows
    joined = torch.cat([mixed.permute(0, 2, 1, 3).reshape(3, 4, 4), mixed.squeeze(1).contiguous()], -1)
    spread = (joined.var(-1, unbiased=False, keepdim=True) + joined.std(-1, keepdim=True) + 1e-5).sqrt()
    normed = (joined - joined.mean(-1, keepdim=True)) / spread * torch.rsqrt(spread.pow(2) + 1.0)
    angles = torch.stack([normed.sin(), normed.cos(), normed.tanh().relu()], -1).flatten(2)
    loss = functional.cross_entropy(angles.flatten(0, 1), numbers)
    loss.backward()  # type: ignore[no-untyped-call]
