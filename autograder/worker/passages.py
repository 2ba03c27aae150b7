"""Which library code may lie between a program and the operators it calls, and the guards on all other library code.

Some of torch's private modules compute what an exercise forbids from allowed operators (`torch.onnx.ops`,
`torch._refs`, `torch._inductor.fx_passes`). A list of what is forbidden never ends, so this is a list of what is
allowed: library functions of every other file refuse to work on tensors with numbers while an exercise forbids
anything. The guards replace the functions' code once in a process, because watching every call (`sys.setprofile`)
slows all programs down and can be switched off by one line of a program.
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
"""Modules by their own names."""

ALLOWED_PACKAGES = frozenset(
    {
        *("torch._C", "torch._awaits", "torch._custom_op", "torch._dispatch", "torch._dynamo", "torch._functorch"),
        *("torch._higher_order_ops", "torch._library", "torch._logging", "torch._prims_common", "torch._subclasses"),
        *("torch.accelerator", "torch.amp", "torch.autograd", "torch.backends", "torch.compiler", "torch.cpu"),
        *("torch.cuda", "torch.distributions", "torch.fft", "torch.func", "torch.futures", "torch.fx", "torch.jit"),
        *("torch.linalg", "torch.masked", "torch.monitor", "torch.mps", "torch.mtia", "torch.multiprocessing"),
        *("torch.nn", "torch.optim", "torch.profiler", "torch.signal", "torch.special", "torch.utils", "torch.xpu"),
        *(
            "functorch",
            "numpy",
            "mpmath",
            "sympy",
            "networkx",
            "jinja2",
            "markupsafe",
            "packaging",
            "typing_extensions",
        ),
        *("fsspec", "filelock", "opt_einsum", "einops"),
        "autograder",  # the checks themselves; a student's file cannot import it
        # Plumbing that hands tensors on and computes nothing.
        *("beartype", "jaxtyping", "typeguard", "decorator", "wrapt", "toolz", "tqdm", "rich", "loguru", "icecream"),
        *("pytest", "_pytest", "pluggy", "hypothesis", "xdist"),
    }
)
"""Packages with everything in them."""

PACKAGE_FOLDERS = ("site-packages", "dist-packages")
MARK = "the guard"
_NO_VALUES = frozenset({"__builtins__", "__annotations__"})
DEPTH = 4
"""How deep tensors are looked for in the arguments of a call, which are two deep themselves."""

_TORCH = str(Path(torch.__file__).parent) + os.sep
_visited: set[str] = set()
_armed: list[object] = []
_Loader: Any = next(each for each in importlib.machinery.SourceFileLoader.__mro__ if "exec_module" in vars(each))
_load = _Loader.exec_module


class ForbiddenCallError(Exception):
    """What an exercise forbids was called; the message is the dotted name."""


@functools.cache
def allowed(file: str) -> bool:
    """Return whether the functions of a file may lie in between; a file that belongs to no package always may."""
    name = _dotted(file)
    if name is None or name in ALLOWED_MODULES:
        return True
    parts = name.split(".")
    return any(".".join(parts[:length]) in ALLOWED_PACKAGES for length in range(1, len(parts) + 1))


def _dotted(file: str) -> str | None:
    """Return the module that an installed file is; None for every file that is not in a package folder."""
    if file.startswith(_TORCH):
        parts = ["torch", *Path(file[len(_TORCH) :]).parts]
    else:
        parts = list(Path(file).parts)
        folders = [at for at, part in enumerate(parts) if part in PACKAGE_FOLDERS]
        if not folders:
            return None
        parts = parts[folders[-1] + 1 :]
    if parts[-1] == "__init__.py":
        parts.pop()
    return ".".join(parts).removesuffix(".py")


class Guard:
    """Stands before a function of a file that is not allowed."""

    __slots__ = ("keywords", "original")

    def __init__(self, function: FunctionType) -> None:
        code = function.__code__
        made = FunctionType(code, function.__globals__, code.co_name, function.__defaults__, function.__closure__)
        made.__kwdefaults__ = function.__kwdefaults__
        made.__qualname__ = function.__qualname__
        self.original = made
        self.keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]

    def __call__(self, positional: tuple[Any, ...], keywords: tuple[Any, ...], others: Mapping[str, Any]) -> Any:
        """Call the function, unless it is given tensors in an exercise that forbids anything."""
        if _armed and _has_numbers((positional, keywords, others)):
            raise ForbiddenCallError(_name_of(self.original))
        return self.original(*positional, **dict(zip(self.keywords, keywords, strict=True)), **others)


def _name_of(function: FunctionType) -> str:
    return f"{_dotted(function.__code__.co_filename) or function.__module__}.{function.__qualname__}"


def _has_numbers(value: object, depth: int = DEPTH) -> bool:
    """Return whether a value holds a tensor with numbers. A compiler's fake tensors and meta tensors have none."""
    if isinstance(value, Tensor):
        with torch._C.DisableTorchFunction():
            if isinstance(value, FunctionalTensor):
                return _has_numbers(torch._from_functional_tensor(value.elem), depth)
            return isinstance(value, Elsewhere) or not (isinstance(value, FakeTensor) or value.is_meta)
    if not depth:
        return False
    if isinstance(value, Mapping):
        return any(_has_numbers(each, depth - 1) for each in value.values())
    return isinstance(value, list | tuple) and any(_has_numbers(each, depth - 1) for each in value)


def guard(function: FunctionType) -> None:
    """Put a guard before a function, if there is none."""
    if not any(type(each) is Guard for each in function.__code__.co_consts):
        function.__code__ = code_calling(Guard(function), function.__code__)


def code_calling(call: Callable[..., Any], code: CodeType) -> CodeType:
    """Return code of the same signature, name and place that calls something else with the arguments.

    It gets the positional ones, the values of those with names of their own, and the others by name.
    """
    star, double = bool(code.co_flags & inspect.CO_VARARGS), bool(code.co_flags & inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + star + double
    template = _template(code.co_argcount, code.co_kwonlyargcount, len(code.co_freevars), star, double)
    return template.replace(
        co_consts=tuple(call if each == MARK else each for each in template.co_consts),
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
    """Compile a function with so many arguments that hands them on. It must have the free variables of the other."""
    first, second = [f"p{each}" for each in range(positional)], [f"k{each}" for each in range(keyword)]
    cells = "".join(f"c{each}, " for each in range(free))
    signature = ", ".join(
        [*first, *(["*s"] if star else ["*"] if keyword else []), *second, *(["**d"] if double else [])]
    )
    values = "".join(f"{each}, " for each in [*first, *(["*s"] if star else [])])
    named = "".join(f"{each}, " for each in second)
    source = f"""
def outer({cells}):
    def call({signature}):
        mark = {MARK!r}
        return mark(({values}), ({named}), {"d" if double else "{}"})
        ({cells})
    return call
"""
    made: dict[str, Any] = {}
    exec(source, made)
    code: CodeType = made["outer"](*range(free)).__code__
    return code


@contextmanager
def guarded() -> Iterator[None]:
    """Within it, library code that is not allowed refuses tensors with numbers."""
    watch_imports()
    guard_loaded()
    turn = object()
    _armed.append(turn)
    try:
        yield
    finally:
        _armed[:] = [each for each in _armed if each is not turn]


def holds() -> bool:
    """Return whether library code is being guarded."""
    return bool(_armed) and _Loader.exec_module is _exec_module


def watch_imports() -> None:
    """From now on, guard what a module defines as soon as a program, or torch itself, has loaded it."""
    _Loader.exec_module = _exec_module


def _exec_module(self: Any, module: ModuleType) -> None:
    _load(self, module)
    if not allowed(getattr(module, "__file__", None) or ""):
        guard_all([module])


def guard_loaded() -> None:
    """Guard the functions of every module that was loaded since the last call and is not allowed."""
    new = [each for each in sys.modules if each not in _visited]
    _visited.update(new)
    guard_all([sys.modules[name] for name in new if not allowed(_file_of(name))])


def guard_all(modules: Iterable[ModuleType]) -> None:
    """Guard the functions of some modules."""
    seen: set[int] = set()
    for module in modules:
        for function in _functions_in([each for name, each in vars(module).items() if name not in _NO_VALUES], seen):
            if not allowed(function.__code__.co_filename):
                guard(function)


def _file_of(name: str) -> str:
    return getattr(sys.modules.get(name), "__file__", None) or ""


def _functions_in(values: Iterable[object], seen: set[int]) -> Iterator[FunctionType]:
    """Yield the functions behind some values: of classes, of wrappers, of closures, of tables."""
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
    held = [each.cell_contents for each in cells if _is_filled(each)]
    return [*held, *function.__dict__.values()] if function.__dict__ else held


def _of_class(kind: Any) -> Iterable[object]:
    return () if allowed(_file_of(kind.__module__)) else vars(kind).values()


def _of_table(values: Iterable[object]) -> list[object]:
    return [each for each in values if type(each) in (FunctionType, type)]


_PARTS: dict[type, Callable[[Any], Iterable[object]]] = {
    FunctionType: _of_function,
    staticmethod: lambda value: (value.__func__,),
    classmethod: lambda value: (value.__func__,),
    property: lambda value: (value.fget, value.fset, value.fdel),
    functools.partial: lambda value: (value.func,),
    functools.cached_property: lambda value: (value.func,),
    functools._lru_cache_wrapper: lambda value: (value.__wrapped__,),
    dict: lambda value: _of_table(value.values()),
    list: _of_table,
    tuple: _of_table,
}
"""What may have functions in it. By type, because `isinstance` asks proxies that torch keeps, some of which warn."""


def _is_filled(cell: CellType) -> bool:
    try:
        return bool([cell.cell_contents])
    except ValueError:
        return False
