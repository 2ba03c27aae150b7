"""What an exercise forbids, taken out of torch for as long as the exercise runs: whoever calls it, and however.

Syntax sees the names a file mentions; this is for what is reached another way. An operator is taken out of torch's
dispatcher, through which every thread, mode and compiled graph goes; a function of Python's has its code replaced, so
that whoever holds it holds a guard. It is there for honesty and clear words, not as a wall: what runs in a student's
process can be undone by the student.
"""

import importlib
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch
from torch._ops import HigherOrderOperator

KEYS = (
    *("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"),
    *("CPU", "CUDA", "MPS", "AutocastCPU", "AutocastCUDA", "FuncTorchBatched", "FuncTorchVmapMode"),
)
"""Where torch may keep a kernel that computes an operator's result."""

MARK = "the guard"


class ForbiddenCallError(Exception):
    """What an exercise forbids was called; the message is the dotted name."""


@contextmanager
def forbidding(
    names: Sequence[str], own: Mapping[int, CodeType], stand_ins: Mapping[int, CodeType], used: Collection[str]
) -> Iterator[None]:
    """Within it, whatever has one of these names raises `ForbiddenCallError`, and so does the operator of that name.

    `own` and `stand_ins` have the codes of the student's files and of the stand-ins, by their ids: for a stand-in
    functions work as ever. Operators are left alone where a stand-in has `used` one of their names: who calls it in
    such a run has the same of the stand-in.
    """
    functions, operators = _functions(names), _operators(tuple(names))
    library = None if operators.keys() & used else torch._C._dispatch_library("IMPL", "aten", "")
    codes = {function: function.__code__ for function in functions}
    try:
        for function, name in functions.items():
            function.__code__ = _guarding(function, name, own, stand_ins)
        if library is not None:
            _take(library, operators)
        yield
    finally:
        for function, code in codes.items():
            function.__code__ = code
        if library is not None:
            library.reset()


def _take(library: Any, operators: Mapping[str, Collection[tuple[str, str]]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of a kernel that takes the place of another
        first = {kernel: name for name in reversed(list(operators)) for kernel in operators[name]}
        for (operator, key), name in first.items():
            library.impl(operator, key, _refusing(name))


def _refusing(name: str) -> Callable[..., None]:
    def refuse(*_: Any, **__: Any) -> None:
        raise ForbiddenCallError(name)

    return refuse


def _guarding(
    function: FunctionType, name: str, own: Mapping[int, CodeType], stand_ins: Mapping[int, CodeType]
) -> CodeType:
    """Return code that takes the place of a function's; what it calls lies in its constants."""
    original = FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    original.__kwdefaults__ = function.__kwdefaults__

    def guard(*args: Any, **kwargs: Any) -> Any:
        frame = sys._getframe(2)
        while frame is not None and id(frame.f_code) not in own:
            if id(frame.f_code) in stand_ins or frame.f_code is guard.__code__:
                return original(*args, **kwargs)
            frame = frame.f_back  # type: ignore[assignment]
        raise ForbiddenCallError(name)

    code = _calling_mark.__code__
    consts = tuple(guard if each == MARK else each for each in code.co_consts)
    return code.replace(co_consts=consts, co_freevars=function.__code__.co_freevars)


def _calling_mark(*args: Any, **kwargs: Any) -> Any:
    guard: Any = "the guard"  # MARK, which `_guarding` replaces
    return guard(*args, **kwargs)


def _functions(names: Iterable[str]) -> dict[FunctionType, str]:
    """Return the functions of Python's behind some names: of a class and of a module all that are defined in it.

    One whose work an operator of its name does is not among them.
    """
    found: dict[FunctionType, str] = {}
    for name in names:
        for meant in () if _operators((name,)) else (resolve(name), sys.modules.get(name)):
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
def _operators(names: tuple[str, ...]) -> Mapping[str, Collection[tuple[str, str]]]:
    """Return the operators behind some names: of each its overloads, with the keys there are kernels for."""
    return {name: kernels for name in names if (kernels := list(_kernels(name)))}


def _kernels(name: str) -> Iterator[tuple[str, str]]:
    *_, owner, leaf = name.split(".")
    for operator in (leaf, f"{owner}_{leaf}"):
        packet: Any = getattr(torch.ops.aten, operator, None)
        for overload in () if packet is None else packet.overloads():
            full = operator if overload == "default" else f"{operator}.{overload}"
            for key in KEYS:
                if torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{full}", key):
                    yield full, key


def resolve(name: str) -> object | None:
    """Return what a dotted name stands for; None where this release of torch has no such thing."""
    parts = name.split(".")
    found: object = importlib.import_module(parts[0])
    for part in parts[1:]:
        found = getattr(found, part, None)
        if found is None:
            return None
    return found
