"""What an exercise forbids, taken out of torch for as long as the exercise runs: whoever calls it, and however.

Syntax sees the names a file mentions; this is for what is reached another way. An operator is taken out of torch's
dispatcher, through which every thread, mode and compiled graph goes; a function of Python's has its code replaced, so
that whoever holds it holds a guard; library code that no list of `passages` allows refuses tensors. It is there for
honesty and clear words, not as a wall: what runs in a student's process can be undone by the student. What is undone
and not done again is noticed after the next trial.
"""

import importlib
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

from autograder.worker import passages
from autograder.worker.passages import ForbiddenCallError

KEYS = (
    *("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"),
    *("CPU", "CUDA", "MPS", "XPU", "AutocastCPU", "AutocastCUDA", "AutocastMPS", "FuncTorchBatched"),
    *(
        "FuncTorchVmapMode",
        "FuncTorchBatchedDecomposition",
        "QuantizedCPU",
        "NestedTensorCPU",
        "MkldnnCPU",
        "SparseCPU",
    ),
)
"""Where torch may keep a kernel that computes an operator's result."""

KERNEL_GETTER = "_dispatch_get_computed_kernel_for_dispatch_key"
"""Gives out an operator's kernel, which a program could keep from an exercise that allows the operator."""

_kernel: Any = getattr(torch._C, KERNEL_GETTER, None)  # older releases of torch have none
_kept: dict[str, str] = {}

UNDONE = "what puts back a forbidden call"
"""What is said to be called by a program that gave itself back what had been taken out of torch."""


class Ban:
    """What is taken out of torch for an exercise."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self._functions = _functions(names)
        self._kernels = _operators(tuple(names))
        self._original = {function: function.__code__ for function in self._functions}
        self._guards: dict[FunctionType, CodeType] = {}
        self._libraries: dict[str, Any] = {}
        self._registered: dict[str, str] = {}

    def begin(self) -> None:
        """Take everything out of torch."""
        for function, name in self._functions.items():
            self._guards[function] = function.__code__ = passages.code_calling(_refusing(name), function.__code__)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of a kernel that takes the place of another
            for (space, operator, key), name in self._kernels.items():
                if space not in self._libraries:
                    self._libraries[space] = torch._C._dispatch_library("IMPL", space, "")
                self._libraries[space].impl(operator, key, _refusing(name))
        first = {space: operator for space, operator, _ in reversed(list(self._kernels))}
        self._registered = {name: torch._C._dispatch_dump(name) for name in map("::".join, first.items())}

    def end(self) -> None:
        """Put everything back."""
        for library in self._libraries.values():
            library.reset()
        for function, code in self._original.items():
            function.__code__ = code

    def check(self) -> None:
        """Raise `ForbiddenCallError` where something is back in torch.

        One operator speaks for its namespace: a library puts all of its operators back at once.
        """
        if not self.names:
            return
        functions = all(function.__code__ is code for function, code in self._guards.items())
        operators = all(torch._C._dispatch_dump(name) == text for name, text in self._registered.items())
        if not (functions and operators and passages.holds()):
            raise ForbiddenCallError(UNDONE)


@contextmanager
def forbidding(names: Sequence[str]) -> Iterator[Ban]:
    """Within it, whatever has one of these names raises `ForbiddenCallError`, and so does the operator of that name.

    A name with `*` stands for operators only: `torch.*layer_norm` for `torch.ops.aten.native_layer_norm`, among others.
    """
    ban = Ban(names)
    if not names:
        yield ban
        return
    with passages.guarded():
        try:
            ban.begin()
            yield ban
        finally:
            ban.end()


def keep_kernels(names: Collection[str]) -> None:
    """From now on, give out no kernel of the operators behind some names, not even where they are allowed."""
    _kept.update({f"{space}::{full}": name for (space, full, _), name in _operators(tuple(names)).items()})
    if _kernel is not None:
        setattr(torch._C, KERNEL_GETTER, _give)


def _give(operator: str, *key: Any) -> Any:
    if operator in _kept:
        raise ForbiddenCallError(_kept[operator])
    return _kernel(operator, *key)


def _refusing(name: str) -> Callable[..., None]:
    def refuse(*_: Any, **__: Any) -> None:
        raise ForbiddenCallError(name)

    return refuse


def _functions(names: Iterable[str]) -> dict[FunctionType, str]:
    """Return the functions of Python's behind some names: of a class and of a module all that are defined in it.

    One whose work an operator of its name does is not among them.
    """
    found: dict[FunctionType, str] = {}
    for name in names:
        for meant in () if "*" in name or _operators((name,)) else (resolve(name), sys.modules.get(name)):
            for function in _functions_of(meant):
                found.setdefault(function, name)
    return found


def _functions_of(found: object) -> Iterator[FunctionType]:
    match found:
        case FunctionType():
            yield found
        case type():
            yield from (each for each in vars(found).values() if isinstance(each, FunctionType))
        case HigherOrderOperator():
            yield from _functions_of(type(found))
        case ModuleType():
            yield from _defined_in(found)


@lru_cache(maxsize=256)
def _defined_in(module: ModuleType) -> Sequence[FunctionType]:
    """Return the functions that a module of torch defines: the same ones always, so they are looked for once."""
    own = [each for each in vars(module).values() if isinstance(each, FunctionType | type)]
    return [one for each in own if each.__module__ == module.__name__ for one in _functions_of(each)]


@lru_cache(maxsize=256)
def _operators(names: tuple[str, ...]) -> Mapping[tuple[str, str, str], str]:
    """Return the kernels of the operators behind some names, each with the dotted name that a refusal gives it."""
    found: dict[tuple[str, str, str], str] = {}
    for name in names:
        for space, operator in _operators_of(name):
            for full in _overloads()[space, operator]:
                for key in KEYS:
                    if torch._C._dispatch_has_kernel_for_dispatch_key(f"{space}::{full}", key):
                        found.setdefault((space, full, key), _public(space, operator) if "*" in name else name)
    return found


def _operators_of(name: str) -> Iterable[tuple[str, str]]:
    """Return namespace and name of the operators that are meant by a dotted name, or by one with `*`."""
    if "*" in name:
        return [each for each in _overloads() if fnmatchcase(f"torch.ops.{'.'.join(each)}", name)]
    *_, owner, leaf = name.split(".")
    return [each for each in (("aten", leaf), ("aten", f"{owner}_{leaf}")) if each in _overloads()]


@lru_cache(maxsize=1)
def _overloads() -> Mapping[tuple[str, str], Sequence[str]]:
    """Return the overloads of every operator of every namespace."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in torch._C._dispatch_get_all_op_names():
        space, full = each.split("::")
        found.setdefault((space, full.split(".")[0]), []).append(full)
    return found


def _public(space: str, operator: str) -> str:
    """Return the shortest dotted name that an operator has in Python."""
    for owner in ("torch", "torch.nn.functional") if space == "aten" else ():
        if not operator.startswith("_") and hasattr(resolve(owner), operator):
            return f"{owner}.{operator}"
    return f"torch.ops.{space}.{operator}"


def resolve(name: str) -> object | None:
    """Return what a dotted name stands for; None where this release of torch has no such thing."""
    parts = name.split(".")
    found: object = importlib.import_module(parts[0])
    for part in parts[1:]:
        found = getattr(found, part, None)
        if found is None:
            return None
    return found
