"""Disable the calls of torch that an exercise forbids for as long as it runs, whichever way a program reaches them.

`syntax` finds the names that a file mentions; this module stops every other way to a forbidden call:

- An operator is removed from torch's dispatcher, through which every thread, mode and compiled graph goes.
- A Python function has its code replaced, so that every reference to it calls a refusal.
- Library code that `library_guard` does not allow refuses tensors.

Nothing is forbidden to a library while it is imported: such a call is not the student's.

This keeps honest programs honest and gives clear messages. It is no security boundary: it runs in the student's own
process, where a program can undo it. A program that undoes it and does not restore it is noticed after the trial.
"""

import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch
from torch._ops import HigherOrderOperator

from autograder.worker import library_guard
from autograder.worker.bans import UNDONE, ForbiddenCallError, resolve

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


class Ban:
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
            self._guards[function] = function.__code__ = library_guard.code_calling(_refusing(name), function.__code__)
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
        if not (functions and operators and library_guard.is_active()):
            raise ForbiddenCallError(UNDONE)


@contextmanager
def forbid(names: Sequence[str]) -> Iterator[Ban]:
    """Make the functions and operators of these names raise `ForbiddenCallError` within the block.

    A name with `*` matches operators only: `torch.*layer_norm` matches `torch.ops.aten.native_layer_norm`, among
    others.
    """
    ban = Ban(names)
    if not names:
        yield ban
        return
    with library_guard.active(ban):
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
