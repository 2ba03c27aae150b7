"""Empty programs of a course with torch: they know every shape, dtype and device, and compute nothing.

`autograder.authoring.programs` appends this file's source to a solution, after that of `empty_programs`.
"""

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from autograder.checks import empty_programs

from .empty_programs import KEPT, Emptying, right_places

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


empty_programs.EMPTYING = TensorEmptying
