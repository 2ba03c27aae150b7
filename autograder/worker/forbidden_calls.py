"""Disable the calls of torch that an exercise forbids for as long as it runs, whichever way a program reaches them.

`syntax` finds the names that a file mentions; this module stops every other way to a forbidden call:

- An operator is removed from torch's dispatcher, through which every thread, mode and compiled graph goes.
- A Python function has its code replaced, so that every reference to it calls a refusal.
- Library code that `library_guard` does not allow refuses tensors.

Nothing is forbidden to a library while it is imported: such a call is not the student's.

This keeps honest programs honest and gives clear messages. It is no security boundary: it runs in the student's own
process, where a program can undo it. A program that undoes it and does not restore it is noticed after the trial.
"""

import functools
import gc
import importlib.machinery
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any, Protocol

import torch
from torch import Tensor
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor

from autograder.checks import Elsewhere

from .bans import UNDONE, ForbiddenCallError, resolve

# Guard library code: a list of modules through which a program may call operators, and guards on all others.
#
# Some of torch's private modules compute what an exercise forbids from allowed operators (`torch.onnx.ops`,
# `torch._refs`, `torch._inductor.fx_passes`). A list of forbidden modules would never be complete, so this is a list
# of allowed ones. While an exercise forbids anything, functions of other modules of torch refuse tensors with
# numbers, and so do functions of other libraries that use torch. A library that uses no torch only passes tensors on.
# The guards replace the functions' code once per process, because watching every call (`sys.setprofile`) slows all
# programs down, and one line of a program can switch it off.
#
# Libraries have odd classes: mappings that call guarded functions, modules that load at any access. So nothing here
# calls a method of a value, or reads an attribute through its class. What a library does while it is imported is its
# own business: nothing is forbidden meanwhile.

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
        *("pytest", "_pytest", "pluggy", "hypothesis", "xdist", "torchinfo", "torchsummary", "torchviz"),
        *("lovely_tensors", "tensorboard", "tensorboardX", "wandb"),
        # Libraries that compute with arrays, as NumPy does, draw them or show them.
        *("scipy", "sklearn", "skimage", "pandas", "matplotlib", "mpl_toolkits", "seaborn", "plotly", "bokeh"),
        *("altair", "PIL", "imageio", "cv2", "IPython", "ipywidgets", "traitlets", "torchmetrics"),
    }
)
"""Packages that are allowed with all their submodules."""

PACKAGE_FOLDERS = ("site-packages", "dist-packages")
MARK = "the guard"
_SKIPPED_NAMES = frozenset({"__builtins__", "__annotations__"})
DEPTH = 5
"""How deep to look for tensors in the arguments of a call: two levels are the argument lists, two a `UserDict`."""

_TORCH = str(Path(torch.__file__).parent) + os.sep
_visited: set[str] = set()
_active: list["Pausable"] = []
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


def _has_numbers(value: Any, depth: int = DEPTH) -> bool:
    """Say whether a value holds a tensor with numbers. The fake tensors of a compiler and meta tensors have none.

    Only methods of builtin types are called: those of the value may be guarded, or do anything.
    """
    kind = type(value)
    if issubclass(kind, Tensor):
        return _is_filled_tensor(value, depth)
    return depth > 0 and any(_has_numbers(part, depth - 1) for part in _parts_of(value, kind))


def _parts_of(value: Any, kind: type) -> Iterable[Any]:
    """Return what a collection holds, and nothing of any other value."""
    if issubclass(kind, list):
        return list.__iter__(value)
    if issubclass(kind, tuple):
        return tuple.__iter__(value)
    if issubclass(kind, dict):
        return list(dict.values(value))  # `dict.copy` would call methods of a subclass
    if kind is MappingProxyType or Mapping in type.__getattribute__(kind, "__mro__"):
        # Such a mapping keeps its values in an attribute, like UserDict, or refers to another mapping.
        return gc.get_referents(value)
    return ()


def _is_filled_tensor(value: Any, depth: int) -> bool:
    with torch._C.DisableTorchFunction():
        if issubclass(type(value), FunctionalTensor):
            return _has_numbers(torch._from_functional_tensor(value.elem), depth)
        return issubclass(type(value), Elsewhere) or not (issubclass(type(value), FakeTensor) or value.is_meta)


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


class Pausable(Protocol):
    """What is in force while the guards are active, and not while a library is imported."""

    def begin(self) -> None: ...

    def end(self) -> None: ...


@contextmanager
def active(ban: Pausable) -> Iterator[None]:
    """Make library code that is not allowed refuse tensors with numbers, and keep a ban in force, within the block."""
    watch_imports()
    guard_loaded()
    try:
        _resume([ban])
        yield
    finally:
        _active[:] = [other for other in _active if other is not ban]
        ban.end()


def _resume(bans: Iterable[Pausable]) -> None:
    for ban in bans:
        _active.append(ban)
        ban.begin()


def is_active() -> bool:
    """Say whether the guards are active, and newly loaded modules still get them."""
    return bool(_active) and _Loader.exec_module is _exec_module


def watch_imports() -> None:
    """From now on, guard the functions of a module as soon as a program, or torch itself, has loaded it."""
    _Loader.exec_module = _exec_module


def _exec_module(self: Any, module: ModuleType) -> None:
    with _paused() if _active and _is_of_another_library(getattr(self, "path", "")) else nullcontext():
        _load(self, module)
    if not allowed(_file_of(module)):
        guard_all([module])


@contextmanager
def _paused() -> Iterator[None]:
    """Forbid nothing within the block: a library calls what it likes while it is imported."""
    bans, _active[:] = _active[:], []
    for ban in bans:
        ban.end()
    try:
        yield
    finally:
        _resume(bans)


def guard_loaded() -> None:
    """Guard the functions of every module loaded since the last call that is not allowed."""
    new = [name for name in list(sys.modules) if name not in _visited]
    _visited.update(new)
    modules = [sys.modules.get(name) for name in new]
    guard_all([module for module in modules if not allowed(_file_of(module))])


def guard_all(modules: Iterable[object]) -> None:
    """Guard the functions of some modules."""
    seen: set[int] = set()
    uses: dict[int, bool] = {}
    for module in modules:
        values = [value for name, value in list(_names_of(module).items()) if name not in _SKIPPED_NAMES]
        for function in _functions_in(values, seen):
            if not allowed(function.__code__.co_filename) and _uses_torch(function, uses):
                guard(function)


def _is_of_another_library(file: object) -> bool:
    return isinstance(file, str) and not file.startswith(_TORCH) and _dotted(file) is not None


def _uses_torch(function: FunctionType, uses: dict[int, bool]) -> bool:
    """Say whether a function belongs to torch, imports it, or is in a module that has something of it.

    `uses` keeps what is known of modules, by the id of their names.
    """
    if not _is_of_another_library(function.__code__.co_filename) or _mentions_torch(function.__code__):
        return True
    names = function.__globals__
    if id(names) not in uses:
        uses[id(names)] = any(_is_torch(_home_of(value)) for value in list(names.values()))
    return uses[id(names)]


def _mentions_torch(code: CodeType) -> bool:
    parts = [constant for constant in code.co_consts if type(constant) is CodeType]
    return any(map(_is_torch, code.co_names)) or any(map(_mentions_torch, parts))


def _is_torch(name: object) -> bool:
    return isinstance(name, str) and (name == "torch" or name.startswith("torch."))


def _home_of(value: Any) -> object:
    """Return the name of a module, or of the module of a function or class."""
    kind = type(value)
    if issubclass(kind, ModuleType):
        return _names_of(value).get("__name__")
    if issubclass(kind, type):
        return _names_of(value).get("__module__")
    if kind is BuiltinFunctionType and type(value.__self__) is type:  # torch.add, for one
        return value.__self__.__module__
    return value.__module__ if kind in (FunctionType, BuiltinFunctionType) else None


def _names_of(owner: object) -> Mapping[str, Any]:
    """Return the names of a module or class; a module that loads at the first access does not notice."""
    kind = type(owner)
    reader: Any = type if issubclass(kind, type) else object if issubclass(kind, ModuleType) else None
    names: Mapping[str, Any] = reader.__getattribute__(owner, "__dict__") if reader is not None else {}
    return names


def _file_of(module: object) -> str:
    file = _names_of(module).get("__file__")
    return file if isinstance(file, str) else ""


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
    names = _names_of(kind)
    home = names.get("__module__")
    return () if not isinstance(home, str) or allowed(_file_of(sys.modules.get(home))) else names.values()


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


_ALL_KEYS = (
    *("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"),
    *("CPU", "CUDA", "MPS", "XPU", "AutocastCPU", "AutocastCUDA", "AutocastMPS", "FuncTorchBatched"),
    *("FuncTorchVmapMode", "FuncTorchBatchedDecomposition", "QuantizedCPU", "NestedTensorCPU"),
    *("MkldnnCPU", "SparseCPU"),
)
KEYS = tuple(key for key in _ALL_KEYS if torch._C._parse_dispatch_key(key) is not None)  # 2.4 has no AutocastMPS
"""The dispatch keys under which torch may have a kernel that computes an operator's result."""

KERNEL_GETTER = "_dispatch_get_computed_kernel_for_dispatch_key"
"""Returns an operator's kernel, which a program could keep from an exercise that allows the operator."""

_get_kernel: Any = getattr(torch._C, KERNEL_GETTER, None)  # older releases of torch have none
_withheld: dict[str, str] = {}


class TensorBan:
    """Removes the forbidden calls of an exercise from torch, and restores them."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self._functions = _functions(names)
        self._kernels = _operators(tuple(names))
        self._original = {function: function.__code__ for function in self._functions}
        self._guards: dict[FunctionType, CodeType] = {}
        self._libraries: dict[str, Any] = {}
        self._registered: dict[str, str] = {}

    def begin(self) -> None:
        """Remove every forbidden call from torch."""
        for function, name in self._functions.items():
            self._guards[function] = function.__code__ = code_calling(_refusing(name), function.__code__)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of a kernel that replaces another
            for (space, operator, key), name in self._kernels.items():
                if space not in self._libraries:
                    self._libraries[space] = torch._C._dispatch_library("IMPL", space, "")
                self._libraries[space].impl(operator, key, _refusing(name))
        first = {space: operator for space, operator, _ in reversed(list(self._kernels))}
        self._registered = {name: torch._C._dispatch_dump(name) for name in map("::".join, first.items())}

    def end(self) -> None:
        """Restore everything."""
        for library in self._libraries.values():
            library.reset()
        self._libraries.clear()
        for function, code in self._original.items():
            function.__code__ = code

    def builtins(self) -> None:
        """Return None: what is forbidden is disabled everywhere."""

    def check(self) -> None:
        """Raise `ForbiddenCallError` if a program restored something.

        One operator per namespace is enough to look at: resetting a library restores all of its operators at once.
        """
        if not self.names:
            return
        functions = all(function.__code__ is code for function, code in self._guards.items())
        operators = all(torch._C._dispatch_dump(name) == text for name, text in self._registered.items())
        if not (functions and operators and is_active()):
            raise ForbiddenCallError(UNDONE)


@contextmanager
def forbid_calls(names: Sequence[str]) -> Iterator[TensorBan]:
    """Make the functions and operators of these names raise `ForbiddenCallError` within the block.

    A name with `*` matches operators only: `torch.*layer_norm` matches `torch.ops.aten.native_layer_norm`, among
    others.
    """
    ban = TensorBan(names)
    if not names:
        yield ban
        return
    with active(ban):
        yield ban


def withhold_kernels(names: Collection[str]) -> None:
    """From now on, return no kernel of the operators of these names, not even to an exercise that allows them."""
    _withheld.update({f"{space}::{full}": name for (space, full, _), name in _operators(tuple(names)).items()})
    if _get_kernel is not None:
        setattr(torch._C, KERNEL_GETTER, _get_allowed_kernel)


def _get_allowed_kernel(operator: str, *key: Any) -> Any:
    if operator in _withheld:
        raise ForbiddenCallError(_withheld[operator])
    return _get_kernel(operator, *key)


def _refusing(name: str) -> Callable[..., None]:
    def refuse(*_: Any, **__: Any) -> None:
        raise ForbiddenCallError(name)

    return refuse


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
