"""What the code of a check names, with the functions of its file that it uses."""

from collections.abc import Callable, Collection
from types import CodeType, FunctionType
from typing import Any


def names_any(probe: Callable[..., Any], names: Collection[str]) -> bool:
    """Say whether a probe, or a function that it uses, has one of these names of attributes, functions or methods."""
    seen: set[FunctionType] = set()
    left: list[Any] = [probe]
    while left:
        function = left.pop()
        if not isinstance(function, FunctionType) or function in seen:
            continue
        seen.add(function)
        own = _names(function.__code__)
        if not own.isdisjoint(names):
            return True
        held = [cell.cell_contents for cell in function.__closure__ or ()]
        left += [*held, *(getattr(value, "make", None) for value in held), *map(function.__globals__.get, own)]
    return False


def _names(code: CodeType) -> set[str]:
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    return {*code.co_names}.union(*map(_names, inner))
