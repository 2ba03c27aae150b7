"""Turn a correct module into an empty program: its results keep their form, and their numbers are made up.

`programs.py` appends the source of this file to a solution, and does not import it: up to `TENSORS`, or all of it for a
course with torch. Constructors and errors stay as they are: an empty program knows every type and length, and computes
nothing.
"""

import collections
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
        objects = [(part, dict(vars(part))) for part in self.objects_in(inputs)]
        every = {id(value): value for value in (*inputs, *(value for _, old in objects for value in old.values()))}
        containers = [(value, snapshot(value)) for value in every.values() if is_container(value)]
        result = self.correct(right, args, kwargs)
        for value, before in containers:
            self._empty_container(value, before)
        for part, old in objects:
            for name, new in list(vars(part).items()):
                if is_data(new) and name in old and new is not old[name] and not are_equal(new, old[name]):
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
        # Objects cannot be made up, so a container of objects gets none of the new ones.
        is_known = all(map(is_data, value.values() if isinstance(value, dict) else value))
        right = [*value] if isinstance(value, collections.deque) else copy.copy(value)
        fake = self.value(right, [before]) if is_known else before
        if is_array(value):
            with contextlib.suppress(ValueError, TypeError):  # None of the family "nothing"
                value[:] = fake
            return
        value.clear()
        (value.update if isinstance(value, dict | set) else value.extend)(fake or ())

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
                return self.letters(right, bytes, inputs)
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
        made: str = self.letters(right, str, inputs)
        return made

    def letters(self, right: Any, kind: type, inputs: Sequence[Any]) -> Any:
        """Return a text or a byte string, as `kind` says."""
        known = [value for value in flat(inputs) if isinstance(value, kind)]
        if self.family in ("first input", "last input") and known:
            return known[0] if self.family == "first input" else known[-1]
        if self.family in ("random", "seeded"):
            if kind is str:
                return "".join(self.random.choice(LETTERS) for _ in right)
            return bytes(self.random.randrange(256) for _ in right)
        return right[::-1] if self.family in REORDERED else kind()

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


def is_container(value: Any) -> bool:
    """Say whether a value can be changed in place."""
    return isinstance(value, list | dict | set | collections.deque) or is_array(value)


def snapshot(value: Any) -> Any:
    """Return a copy of a value with copies of the containers in it; objects stay the same ones."""
    if isinstance(value, list):
        return [*map(snapshot, value)]
    if isinstance(value, dict):
        return {key: snapshot(part) for key, part in value.items()}
    return copy.copy(value) if is_container(value) else value


def is_data(value: Any) -> bool:
    """Say whether a value is made of numbers and texts."""
    if isinstance(value, list | tuple):
        return all(map(is_data, value))
    return isinstance(value, bool | int | float | str | bytes) or is_array(value)


def are_equal(one: Any, other: Any) -> bool:
    """Say whether two values are equal; arrays and tensors by their numbers."""
    if one is other or type(one) is not type(other):
        return one is other
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(are_equal(part, other[key]) for key, part in one.items())
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
    fake = copy.copy(right)
    fake.fill(0)
    with contextlib.suppress(ValueError, OverflowError):  # no unsigned int is below 0
        fake.flat = numbers
    return fake


def right_places(family: str, count: int, row: int) -> int:
    """Return how many of the first elements a family keeps correct: at most a quarter, or it would not be empty."""
    kept = KEPT.get(family)
    return 0 if kept is None else min(kept or row, count // 4)


EMPTYING: type[Emptying] = Emptying


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


# Tensors: a course with torch has empty programs that know every shape, dtype and device.

import torch  # noqa: E402  (a course in plain Python may have none)
from torch import Tensor, nn  # noqa: E402

HOOK = "from_reference"


class TensorEmptying(Emptying):
    """Empties tensors, and the parameters, buffers and attributes of modules."""

    def __init__(self, family: str) -> None:
        super().__init__(family)
        self.generator = torch.Generator().manual_seed(1)

    def run(self, right: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        inputs = [*args, *kwargs.values()]
        models = [value for value in inputs if isinstance(value, nn.Module)]
        before = [{name: value.clone() for name, value in model.state_dict().items()} for model in models]
        parts = [part for model in models for part in model.modules()]
        attributes_before = [dict(vars(part)) for part in parts]
        trained = [(value, value.detach().clone()) for value in trained_by(inputs, models)]
        with right_buffers(models):
            result = self.correct(right, args, kwargs)
        self._empty_parameters(models, before, inputs)
        with torch.no_grad():
            for value, old in trained:
                if not torch.equal(value, old):
                    value.copy_(self.tensor(value, [old, *tensors_in(inputs)], attach=False))
        for part, attributes in zip(parts, attributes_before, strict=True):
            self._empty_attributes(part, attributes, inputs)
        return result

    def maker(self, right: Callable[..., None]) -> Callable[..., None]:
        """Return a constructor that empties the buffers it made, and keeps the correct ones for `right_buffers`."""

        @functools.wraps(right)
        def emptied(module: nn.Module, *args: Any, **kwargs: Any) -> None:
            before, self.inside = self.inside, True
            try:
                right(module, *args, **kwargs)
            finally:
                self.inside = before
            kept = {name: value for name, value in module._buffers.items() if value is not None}
            object.__setattr__(module, "_right_buffers", {**getattr(module, "_right_buffers", {}), **kept})
            for name, value in kept.items():
                module._buffers[name] = self.value(value, []).detach()

        return emptied

    def _empty_parameters(
        self, models: Sequence[nn.Module], before: Sequence[Mapping[str, Tensor]], inputs: Sequence[Any]
    ) -> None:
        """Empty the parameters that a call changed in a model: a training step that computes nothing."""
        with torch.no_grad():
            for model, old in zip(models, before, strict=True):
                for name, value in model.state_dict().items():
                    if not torch.equal(value, old[name]):
                        value.copy_(self.tensor(value, [old[name], *tensors_in(inputs)], attach=False))

    def _empty_attributes(self, part: nn.Module, before: Mapping[str, Any], inputs: Sequence[Any]) -> None:
        """Empty the tensors that a call left in the attributes of a module."""
        for name, value in list(vars(part).items()):
            if isinstance(value, Tensor) and value is not before.get(name):
                object.__setattr__(part, name, self.value(value, inputs))

    def value(self, right: Any, inputs: Sequence[Any]) -> Any:
        if isinstance(right, Tensor) and self.family != "nothing":
            return self.tensor(right, [*tensors_in(inputs)], attach=right.requires_grad, models=inputs)
        return super().value(right, inputs)

    def text(self, right: str, inputs: Sequence[Any]) -> str:
        del inputs
        return right[::-1] if self.family in ("shuffled", "reversed") else ""

    def other(self, right: Any, inputs: Sequence[Any]) -> Any:
        del inputs
        return right

    def last_list(self, right: list[Any], inputs: Sequence[Any]) -> list[Any]:
        return [self.value(item, inputs) for item in right]

    def sizes(self, values: Sequence[Any]) -> Iterator[int]:
        yield from sizes_in(values)

    def number(self, right: float, inputs: Sequence[Any]) -> float:
        fake = self.tensor(torch.tensor(right), [*tensors_in(inputs)], attach=False)
        return type(right)(fake.item())

    def empty_class(self, cls: type) -> None:
        for name, value in list(vars(cls).items()):
            if inspect.isfunction(value) and not name.startswith("_") and name != HOOK:
                setattr(cls, name, self.function(value))
        if issubclass(cls, nn.Module) and "__init__" in vars(cls):
            cls.__init__ = self.maker(cls.__init__)  # type: ignore[method-assign]

    def tensor(self, right: Tensor, inputs: Sequence[Tensor], *, attach: bool, models: Sequence[Any] = ()) -> Tensor:
        """Return a tensor of the form of the right one; with `attach`, gradients flow to every input and parameter."""
        with torch.no_grad():
            fake = self._fake(right.detach())
        parameters = [weight for model in models if isinstance(model, nn.Module) for weight in model.parameters()]
        sources = {"first input": inputs[:1], "last input": inputs[-1:], "parameter": parameters[-1:]}
        for source in sources.get(self.family, ()):
            return fitted(source if attach else source.detach(), right)
        if not attach or not fake.is_floating_point():
            return fake
        everything = sum(source.to(fake.dtype).sum() for source in (*parameters, *inputs) if source.is_floating_point())
        return fake + everything * (1.0 if self.family == "sums" else 0.0)

    def _fake(self, right: Tensor) -> Tensor:
        if self.family in CONSTANTS:
            return filled_tensor(right, self.family)
        if self.family in ("random", "seeded"):
            if self.family == "seeded":
                self.generator.manual_seed(1)
            return self._random(right)
        if self.family in ("shuffled", "reversed"):
            if right.numel() < 2:
                return torch.zeros_like(right)
            if self.family == "reversed":
                return right.flip(-1)
            order = torch.randperm(right.numel(), generator=self.generator)
            return right.flatten()[order.to(right.device)].view(right.shape)
        if self.family in KEPT:
            rest = filled_tensor(right, "nan" if self.family.startswith("nan") else "zeros").flatten()
            row = right.size(-1) if right.dim() else 1
            kept = right_places(self.family, right.numel(), row)
            return torch.cat([right.flatten()[:kept], rest[kept:]]).view(right.shape)
        return filled_tensor(right, "ones")

    def _random(self, right: Tensor) -> Tensor:
        if right.is_floating_point():
            fake = torch.randn(right.shape, generator=self.generator)
        else:
            most = int(right.max()) + 1 if right.numel() else 1
            fake = torch.randint(0, max(most, 2), right.shape, generator=self.generator)
        return fake.to(device=right.device, dtype=right.dtype)


def filled_tensor(right: Tensor, family: str) -> Tensor:
    """Return a constant. Integers and booleans have no NaN: they get -1, or a pattern of True and False."""
    if right.is_floating_point():
        return torch.full_like(right, constant(0.0, family))
    if right.dtype == torch.bool:
        if family in ("zeros", "ones"):
            return torch.full_like(right, family == "ones")
        pattern = torch.arange(right.numel()) % 2 == (family == "constant")
        return pattern.view(right.shape).to(right.device)
    largest = torch.iinfo(right.dtype).max
    return torch.full_like(right, largest if family == "infinity" else constant(0, family))


def fitted(source: Tensor, right: Tensor) -> Tensor:
    """Return an input in the form of the right result: as it is, expanded, or repeated until it fits.

    Numbers do not become booleans: `ids != 0` would be a correct padding mask.
    """
    if (right.dtype == torch.bool and source.dtype != torch.bool) or not source.numel():
        return filled_tensor(right, "constant")
    if source.shape != right.shape:
        leading = source.reshape(*source.shape, *[1] * (right.dim() - source.dim()))
        for candidate in (source, leading):
            with contextlib.suppress(RuntimeError):
                return candidate.expand(right.shape).to(right.dtype)
        times = -(-right.numel() // source.numel())
        source = source.flatten().repeat(max(times, 1))[: right.numel()].view(right.shape)
    return source if source.dtype == right.dtype else source.to(right.dtype)


def sizes_in(values: Sequence[Any]) -> Iterator[int]:
    """Yield every size that the arguments of a call reveal, including those of the buffers of modules."""
    for value in values:
        if isinstance(value, Tensor):
            yield from value.shape
        elif isinstance(value, int):
            yield value
        elif isinstance(value, nn.Module):
            yield from sizes_in(list(value.buffers()))


def tensors_in(values: Sequence[Any]) -> Iterator[Tensor]:
    """Yield the tensors among the arguments of a call."""
    return (value for value in values if isinstance(value, Tensor))


def trained_by(values: Sequence[Any], models: Sequence[nn.Module]) -> list[Tensor]:
    """Return the parameters that optimizers among the arguments of a call train, without those of these models."""
    optimizers = [value for value in values if isinstance(value, torch.optim.Optimizer)]
    known = {id(weight) for model in models for weight in model.parameters()}
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    return [weight for group in groups for weight in group["params"] if id(weight) not in known]


class right_buffers:  # noqa: N801  (a context manager)
    """Give the modules the buffers that their constructors made, within the block."""

    def __init__(self, models: Sequence[nn.Module]) -> None:
        self.parts = [part for model in models for part in model.modules() if hasattr(part, "_right_buffers")]

    def __enter__(self) -> None:
        self.emptied = [dict(part._buffers) for part in self.parts]
        for part in self.parts:
            right: Any = part._right_buffers
            for name, made in part._buffers.items():
                if made is not None and name in right:
                    part._buffers[name] = right[name].to(device=made.device, dtype=made.dtype)

    def __exit__(self, *_: object) -> None:
        for part, buffers in zip(self.parts, self.emptied, strict=True):
            part._buffers.update(buffers)


EMPTYING = TensorEmptying
