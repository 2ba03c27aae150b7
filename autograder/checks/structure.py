"""The names an implementation must have: look them up, and compare parameters with the contract."""

import difflib
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

Shape = tuple[int, ...]

NEAR = 0.75
"""How similar a name is that is proposed for an unknown one: others mislead, such as `format` for `math`."""


class StructureError(Exception):
    """A student's file lacks a name or a shape of the contract; the message is a sentence for the student."""


class Implementation:
    """Looks up the contract's names in a student's module; a missing one raises `StructureError`."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(self._module, name)
        except AttributeError:
            pass
        defined = {key: value for key, value in vars(self._module).items() if not key.startswith("__")}
        near = nearest(name, (key for key, value in defined.items() if not key.startswith("_") and callable(value)))
        hint = f"; it defines {near}: rename it if that is the one" if near else ""
        if not defined:
            hint = "; it defines nothing at all: is the file empty?"
        raise StructureError(f"{self._module.__name__}.py defines no {name}{hint}")


def nearest(name: str, names: Iterable[str], least: float = 0.6) -> str | None:
    """Return the name most similar to `name`, the first of equally similar ones, or None if none is similar.

    `least` is how similar it must be, from 0 to 1.
    """
    typed = name.lower().replace("_", "")
    plain = {candidate.lower().replace("_", ""): candidate for candidate in names}
    ratios = {word: difflib.SequenceMatcher(None, word, typed).ratio() for word in plain}
    best = max(ratios, key=ratios.__getitem__, default=None)
    # 0.6 is difflib's own default: it finds a slip of a few letters.
    return plain[best] if best is not None and ratios[best] >= least else None


def compare_parameters(owner: str, found: Mapping[str, Shape], wanted: Mapping[str, Shape]) -> list[str]:
    """Return a sentence for every parameter that is missing or has another shape. Extra parameters are allowed."""
    extra = [name for name in found if name not in wanted]
    sentences = []
    for name, shape in wanted.items():
        if name not in found:
            near = nearest(name, extra)
            also = f"; found {near} {found[near]}: rename it if that is the one" if near else _listed(extra)
            sentences.append(f"{owner} has no parameter {name} {shape}{also}")
        elif found[name] != shape:
            sentences.append(f"{owner}: the parameter {name} has shape {found[name]}, expected {shape}")
    return sentences


def _listed(extra: list[str]) -> str:
    return f"; found {', '.join(extra)} instead" if extra else ""
