"""The names an implementation must have: finding them, and filling a module with known weights."""

import difflib
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

Shape = tuple[int, ...]


class StructureError(Exception):
    """What the student wrote lacks a name or a shape of the contract; the message is a sentence about it."""


class Implementation:
    """The contract's names in a student's module: a missing one raises `StructureError`."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(self._module, name)
        except AttributeError:
            pass
        own = (key for key, value in vars(self._module).items() if not key.startswith("_") and callable(value))
        near = nearest(name, own)
        hint = f"; it has {near}: is that the one?" if near else ""
        raise StructureError(f"{self._module.__name__}.py defines no {name}{hint}")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name most like `name`, if any is like it."""
    lowered = {each.lower().replace("_", ""): each for each in names}
    close = difflib.get_close_matches(name.lower().replace("_", ""), lowered, n=1, cutoff=0.6)
    return lowered[close[0]] if close else None


def compare_parameters(owner: str, found: Mapping[str, Shape], wanted: Mapping[str, Shape]) -> list[str]:
    """Return a sentence for every parameter that is missing or has another shape; extra ones are no matter here."""
    extra = [name for name in found if name not in wanted]
    sentences = []
    for name, shape in wanted.items():
        if name not in found:
            near = nearest(name, extra)
            also = f"; found {near} {found[near]}: is that it?" if near else _found(extra)
            sentences.append(f"{owner} has no parameter {name} {shape}{also}")
        elif found[name] != shape:
            sentences.append(f"{owner}: the parameter {name} has shape {found[name]}, expected {shape}")
    return sentences


def _found(extra: list[str]) -> str:
    return f"; found {', '.join(extra)} instead" if extra else ""
