"""Turn a correct module into an empty program: its results keep their form, and their numbers are made up.

`autograder.authoring.programs` appends this file's source to a solution. Constructors and errors stay as they are: an
empty program knows every type and length, and computes nothing.
"""

import contextlib
import copy
import functools
import inspect
import random
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

CONSTANTS = ("zeros", "ones", "constant", "nan", "infinity")
KEPT = {"nan but 1": 1, "nan but 2": 2, "nan but a row": 0, "zeros but 2": 2}
REORDERED = ("shuffled", "reversed")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LARGEST_INT = (1 << 61) - 1

KEPT_METHODS = frozenset(
    {
        *("__init__", "__new__", "__post_init__", "__init_subclass__", "__class_getitem__", "__hash__"),
        *("__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__set_name__", "__get__", "__set__"),
    }
)
"""Methods that make an object, or reach its attributes: they stay correct."""

FORMS = (type(None), type, types.ModuleType, types.BuiltinFunctionType, types.MethodType, range, slice)
"""Values without numbers of their own: an empty program returns them as they are."""


class Emptying:
    """Replaces what the functions and classes of one module return, as a family of empty programs does."""

    def __init__(self, family: str) -> None:
        self.family = family
        self.random = random.Random(1)
        self.inside = False

    def function(self, right: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls the correct one and returns an empty result in its place.

        Calls within such a call stay correct: the families that reorder results need correct numbers to reorder.
        """

        @functools.wraps(right)
        def emptied(*args: Any, **kwargs: Any) -> Any:
            if self.inside:
                return right(*args, **kwargs)
            inputs = [*args, *kwargs.values()]
            if self.family == "refuses":
                raise ValueError(" ".join(map(str, self.sizes(inputs))))
            return self.value(self.run(right, args, kwargs), inputs)

        return emptied

    def run(self, right: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return the correct result. What the call changed in its arguments, or in objects they lead to, is emptied."""
        inputs = [*args, *kwargs.values()]
        containers = [
            (value, copy.copy(value)) for value in inputs if isinstance(value, list | dict) or is_array(value)
        ]
        objects = [(part, dict(vars(part))) for part in self.objects_in(inputs)]
        result = self.correct(right, args, kwargs)
        for value, before in containers:
            self._empty_container(value, before)
        for part, old in objects:
            for name, new in list(vars(part).items()):
                if is_data(new) and name in old and not are_equal(new, old[name]):
                    object.__setattr__(part, name, self.value(new, [old[name]]))
        return result

    def correct(self, right: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call the correct function, within which all functions are correct."""
        self.inside = True
        try:
            return right(*args, **kwargs)
        finally:
            self.inside = False

    def _empty_container(self, value: Any, before: Any) -> None:
        if are_equal(value, before):
            return
        fake = self.value(copy.copy(value), [before])
        if isinstance(value, dict):
            value.clear()
            value.update(fake or {})
        else:
            with contextlib.suppress(ValueError, TypeError):  # None of the family "nothing"
                value[:] = fake

    def objects_in(self, values: Sequence[Any]) -> list[Any]:
        """Return the objects that values lead to: of the program's classes, and of those that a check defines."""
        found: dict[int, Any] = {}
        rest = list(values)
        while rest:
            value = rest.pop()
            if isinstance(value, list | tuple | set | frozenset):
                rest += value
            elif isinstance(value, dict):
                rest += value.values()
            elif is_object(value) and id(value) not in found:
                found[id(value)] = value
                rest += vars(value).values()
        return list(found.values())

    def value(self, right: Any, inputs: Sequence[Any]) -> Any:
        """Return an empty value of the form of a correct one."""
        if self.family == "nothing":
            return type(right)() if isinstance(right, list | dict | str | bytes) else None
        match right:
            case bool() | int() | float():
                return self.number(right, inputs)
            case str():
                return self.text(right, inputs)
            case bytes():
                return self.bytes(right, inputs)
            case list():
                return self.items(right, inputs)
            case dict():  # the keys are computed too; only their number is form
                return dict(enumerate(self.items(list(right.values()), inputs)))
            case tuple():
                parts = [self.value(part, inputs) for part in right]
                return type(right)(*parts) if hasattr(right, "_fields") else tuple(parts)
        return self.other(right, inputs)

    def other(self, right: Any, inputs: Sequence[Any]) -> Any:
        """Return an empty array, set, object or function, a form as it is, and None for a value of another type."""
        if is_array(right):
            return self.array(right, inputs)
        if isinstance(right, set | frozenset):
            return type(right)(self.items(list(right), inputs))
        if is_object(right) and not any(right is value for value in inputs):
            fake = copy.copy(right)
            for name, part in vars(right).items():
                if is_data(part):
                    object.__setattr__(fake, name, self.value(part, inputs))
            return fake
        if isinstance(right, FORMS) or any(right is value for value in inputs):
            return right
        # A connection, an iterator or a date cannot be copied without its contents.
        return self.function(right) if inspect.isfunction(right) else None

    def items(self, right: list[Any], inputs: Sequence[Any]) -> list[Any]:
        """Return a list of the same length."""
        if self.family == "first input" and inputs and isinstance(inputs[0], list):
            return inputs[0]
        if self.family == "last input" and inputs and isinstance(inputs[-1], list):
            return self.last_list(right, inputs)
        if self.family in REORDERED and not all(are_equal(item, right[0]) for item in right):
            return right[::-1] if self.family == "reversed" else [*right[1:], right[0]]
        kept = right_places(self.family, len(right), len(right))
        return [item if i < kept else self.value(item, inputs) for i, item in enumerate(right)]

    def number(self, right: float, inputs: Sequence[Any]) -> float:
        """Return a plain number."""
        if self.family in ("random", "seeded"):
            return self._random_number(right)
        known = [value for value in flat(inputs) if isinstance(value, int | float)]
        if self.family in ("first input", "last input") and known:
            number = known[0] if self.family == "first input" else known[-1]
        elif self.family == "sums":
            number = 1 + sum(known)
        else:
            base = "nan" if self.family.startswith("nan") else "zeros" if self.family in (*KEPT, *REORDERED) else ""
            number = constant(right, base or (self.family if self.family in CONSTANTS else "ones"))
        with contextlib.suppress(ValueError, OverflowError):  # no int is infinite
            return type(right)(number)
        return constant(right, "infinity")

    def _random_number(self, right: float) -> float:
        if self.family == "seeded":
            self.random.seed(1)
        if isinstance(right, bool):
            return self.random.random() < 0.5
        if isinstance(right, int):
            return self.random.randrange(max(abs(right) + 1, 2))
        return self.random.gauss(0.0, 1.0)

    def text(self, right: str, inputs: Sequence[Any]) -> str:
        """Return a text."""
        known = [value for value in flat(inputs) if isinstance(value, str)]
        if self.family in ("first input", "last input") and known:
            return known[0] if self.family == "first input" else known[-1]
        if self.family in ("random", "seeded"):
            return "".join(self.random.choice(LETTERS) for _ in right)
        return right[::-1] if self.family in REORDERED else ""

    def bytes(self, right: bytes, inputs: Sequence[Any]) -> bytes:
        """Return a byte string."""
        known = [value for value in flat(inputs) if isinstance(value, bytes)]
        if self.family in ("first input", "last input") and known:
            return known[0] if self.family == "first input" else known[-1]
        if self.family in ("random", "seeded"):
            return bytes(self.random.randrange(256) for _ in right)
        return right[::-1] if self.family in REORDERED else b""

    def array(self, right: Any, inputs: Sequence[Any]) -> Any:
        """Return an array of NumPy of the form of the right one."""
        sources = [value for value in inputs if is_array(value) and value.size]
        if self.family in ("first input", "last input") and sources and right.dtype != bool:
            source = sources[0] if self.family == "first input" else sources[-1]
            repeated = [*source.ravel().tolist()] * -(-right.size // source.size)
            return filled(right, repeated[: right.size])
        if self.family in REORDERED and right.size > 1:
            every = right.ravel().tolist()
            return filled(right, every[::-1] if self.family == "reversed" else self.random.sample(every, len(every)))
        kept = right_places(self.family, right.size, right.shape[-1] if right.ndim else 1)
        every = right.ravel().tolist()
        return filled(right, [item if i < kept else self.number(item, []) for i, item in enumerate(every)])

    def last_list(self, right: list[Any], inputs: Sequence[Any]) -> list[Any]:
        """Return the last input, which is a list, in place of a list."""
        del right
        return list(inputs[-1])

    def sizes(self, values: Sequence[Any]) -> Iterator[int]:
        """Yield every size that the arguments of a call reveal."""
        for value in values:
            if isinstance(value, int):
                yield value
            elif is_array(value):
                yield from value.shape
            elif hasattr(value, "__len__"):
                yield len(value)

    def empty_class(self, cls: type) -> None:
        """Empty every method of a class but those that make an object."""
        for name, value in list(vars(cls).items()):
            if inspect.isfunction(value) and name not in KEPT_METHODS:
                setattr(cls, name, self.function(value))


def is_object(value: Any) -> bool:
    """Say whether a value is an object with attributes, and no part of a program."""
    parts = (type, types.ModuleType, types.FunctionType, types.MethodType, functools.partial)
    return hasattr(value, "__dict__") and not isinstance(value, parts)


def is_array(value: Any) -> bool:
    """Say whether a value is an array of NumPy, which is loaded if there is one."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def is_data(value: Any) -> bool:
    """Say whether a value is made of numbers and texts."""
    if isinstance(value, list | tuple):
        return all(map(is_data, value))
    return isinstance(value, bool | int | float | str | bytes) or is_array(value)


def are_equal(one: Any, other: Any) -> bool:
    """Say whether two values are equal; arrays and tensors by their numbers."""
    if type(one) is not type(other):
        return False
    if hasattr(one, "shape"):
        return one.shape == other.shape and bool((one == other).all())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(are_equal, one, other))
    return bool(one == other)


def flat(values: Sequence[Any]) -> Iterator[Any]:
    """Yield values, and those in lists and tuples among them."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from flat(value)
        else:
            yield value


def constant(right: float, family: str) -> float:
    """Return a constant of the type of a number. Ints and bools have no NaN: they get -1, or True."""
    if isinstance(right, bool):
        return family in ("ones", "nan", "infinity")
    if isinstance(right, int):
        return {"zeros": 0, "ones": 1, "constant": 7, "nan": -1, "infinity": LARGEST_INT}[family]
    return {"zeros": 0.0, "ones": 1.0, "constant": 0.37, "nan": float("nan"), "infinity": float("inf")}[family]


def filled(right: Any, numbers: Sequence[Any]) -> Any:
    """Return numbers as an array of the form of the right one."""
    fake = right * 0
    with contextlib.suppress(ValueError, OverflowError):  # no unsigned int is below 0
        fake.flat = numbers
    return fake


def right_places(family: str, count: int, row: int) -> int:
    """Return how many of the first elements a family keeps correct: at most a quarter, or it would not be empty."""
    kept = KEPT.get(family)
    return 0 if kept is None else min(kept or row, count // 4)


EMPTYING = Emptying


def empty(module: dict[str, Any], family: str) -> None:
    """Empty every function and class that a module defines; `module` is its namespace."""
    emptying, own = EMPTYING(family), module["__name__"]
    for name, value in list(module.items()):
        if name.startswith("_") or getattr(value, "__module__", None) != own:
            continue
        if inspect.isfunction(value):
            module[name] = emptying.function(value)
        elif inspect.isclass(value) and not issubclass(value, tuple):
            emptying.empty_class(value)
