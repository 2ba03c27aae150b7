"""Turn a correct module into an empty program: its results keep their form, and their numbers are made up.

`autograder.authoring.empty` appends this file's source to a solution. Constructors and errors stay as they are: an
empty program knows every shape, dtype and device, and computes nothing.
"""

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

HOOK = "from_reference"


class Emptying:
    """Replaces what the functions and classes of one module return, as a family of empty programs does."""

    def __init__(self, family: str) -> None:
        self.family = family
        self.generator = torch.Generator().manual_seed(1)
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
            models = [value for value in inputs if isinstance(value, nn.Module)]
            before = [{name: value.clone() for name, value in model.state_dict().items()} for model in models]
            parts = [part for model in models for part in model.modules()]
            attributes_before = [dict(vars(part)) for part in parts]
            if self.family == "refuses":
                raise ValueError(" ".join(map(str, sizes_in(inputs))))
            self.inside = True
            try:
                with right_buffers(models):
                    result = right(*args, **kwargs)
            finally:
                self.inside = False
            self._empty_parameters(models, before, inputs)
            for part, attributes in zip(parts, attributes_before, strict=True):
                self._empty_attributes(part, attributes, inputs)
            return self.value(result, inputs)

        return emptied

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
        """Return an empty value of the form of a correct one."""
        if self.family == "nothing":
            return type(right)() if isinstance(right, list | dict | str) else None
        match right:
            case Tensor():
                return self.tensor(right, [*tensors_in(inputs)], attach=right.requires_grad, models=inputs)
            case bool() | int() | float():
                return self.number(right, inputs)
            case str():
                return right[::-1] if self.family in ("shuffled", "reversed") else ""
            case list():
                return self.items(right, inputs)
            case dict():  # the keys are computed too; only their number is form
                return dict(enumerate(self.items(list(right.values()), inputs)))
            case tuple():
                parts = [self.value(part, inputs) for part in right]
                return type(right)(*parts) if hasattr(right, "_fields") else tuple(parts)
        return right

    def items(self, right: list[Any], inputs: Sequence[Any]) -> list[Any]:
        """Return a list of the same length."""
        if self.family == "first input" and inputs and isinstance(inputs[0], list):
            return inputs[0]
        if self.family in ("shuffled", "reversed") and len(right) > 1:
            return right[::-1] if self.family == "reversed" else [*right[1:], right[0]]
        kept = right_places(self.family, len(right), len(right))
        return [item if i < kept else self.value(item, inputs) for i, item in enumerate(right)]

    def number(self, right: float, inputs: Sequence[Any]) -> float:
        """Return a plain number."""
        fake = self.tensor(torch.tensor(right), [*tensors_in(inputs)], attach=False)
        return type(right)(fake.item())

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
            return filled(right, self.family)
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
            rest = filled(right, "nan" if self.family.startswith("nan") else "zeros").flatten()
            row = right.size(-1) if right.dim() else 1
            kept = right_places(self.family, right.numel(), row)
            return torch.cat([right.flatten()[:kept], rest[kept:]]).view(right.shape)
        return filled(right, "ones")

    def _random(self, right: Tensor) -> Tensor:
        if right.is_floating_point():
            fake = torch.randn(right.shape, generator=self.generator)
        else:
            most = int(right.max()) + 1 if right.numel() else 1
            fake = torch.randint(0, max(most, 2), right.shape, generator=self.generator)
        return fake.to(device=right.device, dtype=right.dtype)


CONSTANTS = ("zeros", "ones", "constant", "nan", "infinity")
KEPT = {"nan but 1": 1, "nan but 2": 2, "nan but a row": 0, "zeros but 2": 2}


def right_places(family: str, count: int, row: int) -> int:
    """Return how many of the first elements a family keeps correct: at most a quarter, or it would not be empty."""
    kept = KEPT.get(family)
    return 0 if kept is None else min(kept or row, count // 4)


def filled(right: Tensor, family: str) -> Tensor:
    """Return a constant. Integers and booleans have no NaN: they get -1, or a pattern of True and False."""
    if right.is_floating_point():
        values = {"zeros": 0.0, "ones": 1.0, "constant": 0.37, "nan": float("nan"), "infinity": float("inf")}
        return torch.full_like(right, values[family])
    if right.dtype == torch.bool:
        if family in ("zeros", "ones"):
            return torch.full_like(right, family == "ones")
        pattern = torch.arange(right.numel()) % 2 == (family == "constant")
        return pattern.view(right.shape).to(right.device)
    whole = {"zeros": 0, "ones": 1, "constant": 7, "nan": -1, "infinity": torch.iinfo(right.dtype).max}
    return torch.full_like(right, whole[family])


def fitted(source: Tensor, right: Tensor) -> Tensor:
    """Return an input in the form of the right result: as it is, expanded, or repeated until it fits.

    Numbers do not become booleans: `ids != 0` would be a correct padding mask.
    """
    if (right.dtype == torch.bool and source.dtype != torch.bool) or not source.numel():
        return filled(right, "constant")
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


def empty(module: dict[str, Any], family: str) -> None:
    """Empty every function and class that a module defines; `module` is its namespace."""
    emptying, own = Emptying(family), module["__name__"]
    for name, value in list(module.items()):
        if name.startswith("_") or getattr(value, "__module__", None) != own:
            continue
        if inspect.isfunction(value):
            module[name] = emptying.function(value)
        elif inspect.isclass(value) and not issubclass(value, tuple):
            _empty_class(value, emptying)


def _empty_class(cls: type, emptying: Emptying) -> None:
    for name, value in list(vars(cls).items()):
        if inspect.isfunction(value) and not name.startswith("_") and name != HOOK:
            setattr(cls, name, emptying.function(value))
    if issubclass(cls, nn.Module) and "__init__" in vars(cls):
        cls.__init__ = emptying.maker(cls.__init__)  # type: ignore[method-assign]
