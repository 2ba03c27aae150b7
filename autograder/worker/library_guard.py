"""Guard library code: a list of modules through which a program may call operators, and guards on all others.

Some of torch's private modules compute what an exercise forbids from allowed operators (`torch.onnx.ops`,
`torch._refs`, `torch._inductor.fx_passes`). A list of forbidden modules would never be complete, so this is a list of
allowed ones. While an exercise forbids anything, functions of every other installed file refuse tensors with numbers.
The guards replace the functions' code once per process, because watching every call (`sys.setprofile`) slows all
programs down, and one line of a program can switch it off.
"""

import functools
import importlib.machinery
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor

from autograder.checks.another_device import Elsewhere
from autograder.worker.bans import ForbiddenCallError

ALLOWED_MODULES = frozenset(
    {
        *("torch", "torch.functional", "torch.overrides", "torch.random", "torch.return_types", "torch.serialization"),
        *("torch.storage", "torch.types", "torch.hub", "torch.sparse", "torch.library", "torch.quasirandom"),
        *("torch._VF", "torch._classes", "torch._jit_internal", "torch._linalg_utils", "torch._lobpcg"),
        *("torch._lowrank", "torch._meta_registrations", "torch._namedtensor_internals", "torch._ops", "torch._tensor"),
        *("torch._tensor_str", "torch._utils", "torch._utils_internal", "torch._vmap_internals", "torch._guards"),
        *("torch._compile", "torch._opaque_base", "torch._weights_only_unpickler", "torch._thread_safe_fork"),
        *("torch.testing", "torch.testing._comparison"),
    }
)
"""Modules that are allowed without their submodules."""

ALLOWED_PACKAGES = frozenset(
    {
        *("torch._C", "torch._awaits", "torch._custom_op", "torch._dispatch", "torch._dynamo", "torch._functorch"),
        *("torch._higher_order_ops", "torch._library", "torch._logging", "torch._prims_common", "torch._subclasses"),
        *("torch.accelerator", "torch.amp", "torch.autograd", "torch.backends", "torch.compiler", "torch.cpu"),
        *("torch.cuda", "torch.distributions", "torch.fft", "torch.func", "torch.futures", "torch.fx", "torch.jit"),
        *("torch.linalg", "torch.masked", "torch.monitor", "torch.mps", "torch.mtia", "torch.multiprocessing"),
        *("torch.nn", "torch.optim", "torch.profiler", "torch.signal", "torch.special", "torch.utils", "torch.xpu"),
        *("functorch", "numpy", "mpmath", "sympy", "networkx", "jinja2", "markupsafe", "packaging"),
        *("typing_extensions", "fsspec", "filelock", "opt_einsum", "einops"),
        "autograder",  # the checks themselves; a student's file cannot import it
        # Libraries that pass tensors on and compute nothing.
        *("beartype", "jaxtyping", "typeguard", "decorator", "wrapt", "toolz", "tqdm", "rich", "loguru", "icecream"),
        *("pytest", "_pytest", "pluggy", "hypothesis", "xdist"),
    }
)
"""Packages that are allowed with all their submodules."""

PACKAGE_FOLDERS = ("site-packages", "dist-packages")
MARK = "the guard"
_SKIPPED_NAMES = frozenset({"__builtins__", "__annotations__"})
DEPTH = 4
"""How deep to look for tensors in the arguments of a call: two levels are the argument lists themselves."""

_TORCH = str(Path(torch.__file__).parent) + os.sep
_visited: set[str] = set()
_active: list[object] = []
_Loader: Any = next(kind for kind in importlib.machinery.SourceFileLoader.__mro__ if "exec_module" in vars(kind))
_load = _Loader.exec_module


@functools.cache
def allowed(file: str) -> bool:
    """Say whether the functions of a file need no guard; a file outside the package folders never does."""
    name = _dotted(file)
    if name is None or name in ALLOWED_MODULES:
        return True
    parts = name.split(".")
    return any(".".join(parts[:length]) in ALLOWED_PACKAGES for length in range(1, len(parts) + 1))


def _dotted(file: str) -> str | None:
    """Return the dotted module name of an installed file; None for every file outside the package folders."""
    if file.startswith(_TORCH):
        parts = ["torch", *Path(file[len(_TORCH) :]).parts]
    else:
        parts = list(Path(file).parts)
        folders = [index for index, part in enumerate(parts) if part in PACKAGE_FOLDERS]
        if not folders:
            return None
        parts = parts[folders[-1] + 1 :]
    if parts[-1] == "__init__.py":
        parts.pop()
    return ".".join(parts).removesuffix(".py")


class Guard:
    """Called in place of a function that is not allowed; refuses tensors, else calls the function."""

    __slots__ = ("keywords", "original")

    def __init__(self, function: FunctionType) -> None:
        code = function.__code__
        copy = FunctionType(code, function.__globals__, code.co_name, function.__defaults__, function.__closure__)
        copy.__kwdefaults__ = function.__kwdefaults__
        copy.__qualname__ = function.__qualname__
        self.original = copy
        self.keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]

    def __call__(self, positional: tuple[Any, ...], keywords: tuple[Any, ...], others: Mapping[str, Any]) -> Any:
        """Call the function. Raises `ForbiddenCallError` if it gets tensors while the guards are active."""
        if _active and _has_numbers((positional, keywords, others)):
            raise ForbiddenCallError(_name_of(self.original))
        return self.original(*positional, **dict(zip(self.keywords, keywords, strict=True)), **others)


def _name_of(function: FunctionType) -> str:
    return f"{_dotted(function.__code__.co_filename) or function.__module__}.{function.__qualname__}"


def _has_numbers(value: object, depth: int = DEPTH) -> bool:
    """Say whether a value holds a tensor with numbers. The fake tensors of a compiler and meta tensors have none."""
    if isinstance(value, Tensor):
        with torch._C.DisableTorchFunction():
            if isinstance(value, FunctionalTensor):
                return _has_numbers(torch._from_functional_tensor(value.elem), depth)
            return isinstance(value, Elsewhere) or not (isinstance(value, FakeTensor) or value.is_meta)
    if not depth:
        return False
    if isinstance(value, Mapping):
        return any(_has_numbers(part, depth - 1) for part in value.values())
    return isinstance(value, list | tuple) and any(_has_numbers(part, depth - 1) for part in value)


def guard(function: FunctionType) -> None:
    """Replace a function's code by a call of a guard, if that has not been done yet."""
    if not any(type(constant) is Guard for constant in function.__code__.co_consts):
        function.__code__ = code_calling(Guard(function), function.__code__)


def code_calling(call: Callable[..., Any], code: CodeType) -> CodeType:
    """Return code with the same signature, name and location that calls `call(positional, keywords, others)`.

    These are the positional arguments, the values of the keyword-only arguments, and the dict of other keywords.
    """
    star, double = bool(code.co_flags & inspect.CO_VARARGS), bool(code.co_flags & inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + star + double
    template = _template(code.co_argcount, code.co_kwonlyargcount, len(code.co_freevars), star, double)
    return template.replace(
        co_consts=tuple(call if constant == MARK else constant for constant in template.co_consts),
        co_varnames=(*code.co_varnames[:count], MARK),
        co_posonlyargcount=code.co_posonlyargcount,
        co_freevars=code.co_freevars,
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
        co_name=code.co_name,
        co_qualname=code.co_qualname,
    )


@functools.cache
def _template(positional: int, keyword: int, free: int, star: bool, double: bool) -> CodeType:
    """Compile a function with these numbers of arguments that passes them on to the object in place of `MARK`.

    Python only accepts code with as many free variables as the function has, so it mentions `free` of them.
    """
    first, second = [f"p{i}" for i in range(positional)], [f"k{i}" for i in range(keyword)]
    cells = "".join(f"c{i}, " for i in range(free))
    signature = ", ".join(
        [*first, *(["*s"] if star else ["*"] if keyword else []), *second, *(["**d"] if double else [])]
    )
    values = "".join(f"{name}, " for name in [*first, *(["*s"] if star else [])])
    named = "".join(f"{name}, " for name in second)
    source = f"""
def outer({cells}):
    def call({signature}):
        mark = {MARK!r}
        return mark(({values}), ({named}), {"d" if double else "{}"})
        ({cells})
    return call
"""
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    code: CodeType = namespace["outer"](*range(free)).__code__
    return code


@contextmanager
def active() -> Iterator[None]:
    """Make library code that is not allowed refuse tensors with numbers, within the block."""
    watch_imports()
    guard_loaded()
    marker = object()
    _active.append(marker)
    try:
        yield
    finally:
        _active[:] = [other for other in _active if other is not marker]


def is_active() -> bool:
    """Say whether the guards are active, and newly loaded modules still get them."""
    return bool(_active) and _Loader.exec_module is _exec_module


def watch_imports() -> None:
    """From now on, guard the functions of a module as soon as a program, or torch itself, has loaded it."""
    _Loader.exec_module = _exec_module


def _exec_module(self: Any, module: ModuleType) -> None:
    _load(self, module)
    if not allowed(getattr(module, "__file__", None) or ""):
        guard_all([module])


def guard_loaded() -> None:
    """Guard the functions of every module loaded since the last call that is not allowed."""
    new = [name for name in sys.modules if name not in _visited]
    _visited.update(new)
    guard_all([sys.modules[name] for name in new if not allowed(_file_of(name))])


def guard_all(modules: Iterable[ModuleType]) -> None:
    """Guard the functions of some modules."""
    seen: set[int] = set()
    for module in modules:
        values = [value for name, value in vars(module).items() if name not in _SKIPPED_NAMES]
        for function in _functions_in(values, seen):
            if not allowed(function.__code__.co_filename):
                guard(function)


def _file_of(name: str) -> str:
    return getattr(sys.modules.get(name), "__file__", None) or ""


def _functions_in(values: Iterable[object], seen: set[int]) -> Iterator[FunctionType]:
    """Yield the functions that can be reached from values: in classes, wrappers, closures and collections."""
    rest = list(values)
    while rest:
        value = rest.pop()
        parts = _PARTS.get(type(value)) or (_of_class if issubclass(type(value), type) else None)
        if parts is not None and id(value) not in seen:
            seen.add(id(value))
            if type(value) is FunctionType:
                yield value
            rest += parts(value)


def _of_function(function: FunctionType) -> list[object]:
    cells = function.__closure__ or ()
    held = [cell.cell_contents for cell in cells if _is_filled(cell)]
    return [*held, *function.__dict__.values()] if function.__dict__ else held


def _of_class(kind: Any) -> Iterable[object]:
    return () if allowed(_file_of(kind.__module__)) else vars(kind).values()


def _of_collection(values: Iterable[object]) -> list[object]:
    return [value for value in values if type(value) in (FunctionType, type)]


_PARTS: dict[type, Callable[[Any], Iterable[object]]] = {
    FunctionType: _of_function,
    staticmethod: lambda value: (value.__func__,),
    classmethod: lambda value: (value.__func__,),
    property: lambda value: (value.fget, value.fset, value.fdel),
    functools.partial: lambda value: (value.func,),
    functools.cached_property: lambda value: (value.func,),
    functools._lru_cache_wrapper: lambda value: (value.__wrapped__,),
    dict: lambda value: _of_collection(value.values()),
    list: _of_collection,
    tuple: _of_collection,
}
"""Types that may hold functions, each with a function that lists them.

Looked up by type, because `isinstance` accesses torch's lazy proxies, some of which warn.
"""


def _is_filled(cell: CellType) -> bool:
    try:
        return bool([cell.cell_contents])
    except ValueError:
        return False
