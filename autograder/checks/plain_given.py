"""`given` for a course of plain Python: the inputs of one trial, all from one seed. Used in the worker only.

Every input is made from `random()` of Python's `random.Random`, whose numbers are the same in every release of Python.
"""

import math
import random
import string
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, TypeVar

from autograder.protocol import Refusal

from .language import nearest_name

# The names an implementation must have: look them up, and compare parameters with the contract.

Shape = tuple[int, ...]

NEAR = 0.75
"""How similar a name is that is proposed for an unknown one: others mislead, such as `format` for `math`."""


class StructureError(Exception):
    """A student's file lacks a name or a shape of the contract.

    The message is a sentence for the student; `refusals` have the sentences with what they are about.
    """

    def __init__(self, *refusals: Refusal | str) -> None:
        self.refusals = tuple(one if isinstance(one, Refusal) else Refusal(one) for one in refusals)
        super().__init__(". ".join(refusal.sentence for refusal in self.refusals))


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
        near = nearest_name(
            name, (key for key, value in defined.items() if not key.startswith("_") and callable(value))
        )
        hint = f"; it defines {near}: rename it if that is the one" if near else ""
        if not defined:
            hint = "; it defines nothing at all: is the file empty?"
        file = f"{self._module.__name__}.py"
        raise StructureError(Refusal(f"{file} defines no {name}{hint}", "definition", file, name, near or ""))


def compare_parameters(owner: str, found: Mapping[str, Shape], wanted: Mapping[str, Shape]) -> list[Refusal]:
    """Return a refusal for every parameter that is missing or has another shape. Extra parameters are allowed."""
    extra = [name for name in found if name not in wanted]
    refusals = []
    for name, shape in wanted.items():
        if name not in found:
            near = nearest_name(name, extra)
            also = f"; found {near} {found[near]}: rename it if that is the one" if near else _listed(extra)
            says = f"{owner} has no parameter {name} {shape}{also}"
            refusals.append(Refusal(says, "parameter", owner, name, near or ""))
        elif found[name] != shape:
            says = f"{owner}: the parameter {name} has shape {found[name]}, expected {shape}"
            refusals.append(Refusal(says, "shape", owner, name))
    return refusals


def _listed(extra: list[str]) -> str:
    return f"; found {', '.join(extra)} instead" if extra else ""


Item = TypeVar("Item")

NEED_LIBRARIES = {
    **dict.fromkeys(("normal", "uniform", "integers", "mask", "array", "numpy"), "numpy"),
    **dict.fromkeys(("tensor", "load", "fill", "steady", "gradients", "slope", "slopes", "bounded"), "torch"),
    **dict.fromkeys(("trainable", "another_device", "torch", "into", "out_of", "instead"), "torch"),
}
"""The names that `given` has only in a course with a library."""


SEEDS = 1 << 30
"""The number of seeds of the generators that checks hand to the code."""


class Unseen:
    """What a step of a worked example has if the code does not call the part of a module that it looks at."""


class PlainGiven:
    """Inputs for one trial of one check."""

    unseen = Unseen()

    def __init__(
        self,
        seed: int,
        sizes: Mapping[str, int],
        device: str = "cpu",
        *,
        exact: bool = False,
        traced: bool = False,
    ) -> None:
        """Begin a trial. Plain numbers know no device and no coarser dtype: `exact` and `traced` change nothing."""
        self._seed = seed
        self._sizes = sizes
        self._exact = exact
        self._traced = traced
        self.device: Any = device
        self._seed_inputs()

    def __getattr__(self, name: str) -> Any:
        """Raise AttributeError with what was meant: the nearest name, or the library that the name needs."""
        if name.startswith("_"):
            raise AttributeError(name)
        if name in NEED_LIBRARIES and not hasattr(type(self), name):
            library = NEED_LIBRARIES[name]
            raise AttributeError(f'given.{name} needs {library}: write libraries = ["{library}"] into course.toml')
        calls = [known for known in dir(type(self)) if known[0] != "_" and callable(getattr(type(self), known))]
        near = nearest_name(name, calls)
        hint = f"did you mean given.{near}?" if near else f"expected one of {', '.join(calls)}"
        raise AttributeError(f"given has no {name}; {hint}")

    def _seed_inputs(self) -> None:
        self._uniform: Callable[[], float] = random.Random(self._seed).random

    def _require_range(self, name: str, low: float, high: float) -> None:
        if not low < high:
            remedy = "expected low < high; exchange or move the bounds in the check"
            raise ValueError(f"given.{name} has the bounds {low} and {high}, {remedy}")

    def _require_count(self, name: str, count: int) -> None:
        if count < 0:
            raise ValueError(f"given.{name} has the count {count}, expected 0 or more; correct it in the check")

    def sizes(self, names: str) -> tuple[int, ...]:
        """Return the sizes of the named axes, e.g. `sizes("B T D")`. No two axes of a trial have the same size."""
        unknown = [name for name in names.split() if name not in self._sizes]
        if unknown:
            known = ", ".join(self._sizes) or "no axis"
            raise LookupError(
                f"course.toml gives no sizes for {', '.join(unknown)}: here it gives them for {known}; "
                "a part with sizes of its own has only those"
            )
        return tuple(self._sizes[name] for name in names.split())

    def size(self, name: str) -> int:
        """Return the size of one axis."""
        return self.sizes(name)[0]

    def number(self, low: int, high: int) -> int:
        """Return an int, low <= it < high."""
        self._require_range("number", low, high)
        return low + math.floor(self._uniform() * (high - low))

    def real(self, low: float = 0.0, high: float = 1.0) -> float:
        """Return a float, low <= it < high."""
        self._require_range("real", low, high)
        return low + self._uniform() * (high - low)

    def numbers(self, low: int, high: int, count: int) -> list[int]:
        """Return so many ints, low <= each < high; a number may occur twice."""
        self._require_count("numbers", count)
        return [self.number(low, high) for _ in range(count)]

    def reals(self, low: float, high: float, count: int) -> list[float]:
        """Return so many floats, low <= each < high."""
        self._require_count("reals", count)
        return [self.real(low, high) for _ in range(count)]

    def distinct(self, low: int, high: int, count: int) -> list[int]:
        """Return so many different ints, low <= each < high, in random order."""
        self._require_count("distinct", count)
        if count > high - low:
            raise ValueError(f"there are {high - low} numbers from {low} to {high - 1}, not {count}")
        return self.shuffled(range(low, high))[:count]

    def choice(self, options: Sequence[Item]) -> Item:
        """Return one of the options."""
        if not len(options):
            raise ValueError("given.choice has no options, expected at least one; write them into the check")
        return options[self.number(0, len(options))]

    def shuffled(self, values: Sequence[Item]) -> list[Item]:
        """Return the values in random order."""
        keys = [self._uniform() for _ in values]
        return [values[i] for i in sorted(range(len(values)), key=keys.__getitem__)]

    def text(self, length: int, letters: str = string.ascii_lowercase) -> str:
        """Return a text of so many of these letters."""
        self._require_count("text", length)
        return "".join(self.choice(letters) for _ in range(length))

    def rng(self) -> Any:
        """Return a `random.Random` with a seed of this trial, for code that takes a generator."""
        return random.Random(self.number(0, SEEDS))

    def raises(self, call: Callable[[], object], *mentions: object) -> dict[str, Any]:
        """Observe the exception of `call`, for the judge `Raises`; its message must contain all `mentions`."""
        mentioned = [str(mention) for mention in mentions]
        try:
            result = call()
        except (NotImplementedError, StructureError, MemoryError):
            raise
        except Exception as error:
            types = [kind.__name__ for kind in type(error).__mro__]
            return {"raised": types, "message": str(error)[:400], "mentions": mentioned}
        return {"raised": [], "returned": type(result).__name__, "mentions": mentioned}

    def restart_randomness(self) -> None:
        """Seed Python's `random` as before the probe, so that two calls draw the same numbers."""
        random.seed(self._seed)
