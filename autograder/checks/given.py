"""`given`: what a probe is given, all of it from one seed. Used in the worker only; needs torch.

Inputs come from NumPy's `RandomState`, whose streams are frozen (NEP 19), so they are the same on every
machine and for every release of torch.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from autograder.checks.another_device import another_device
from autograder.checks.filling import fill
from autograder.checks.structure import Shape, StructureError

Module = TypeVar("Module", bound=nn.Module)

_STREAM = np.random.RandomState()
"""The one stream of inputs: each `Given` starts it again, as making another takes longer than all the draws."""


_SAME_IN_NUMPY = frozenset({"float32", "float64", "int64", "bool"})
"""The dtypes NumPy rounds to as torch does, in half the time; to float16 torch rounds twice."""


class Given:
    """Inputs, weights and a device for one trial of one check.

    `exact` makes every floating tensor float64, whatever dtype the check asks for, with the values that dtype
    holds: so the reference is computed exactly on the very inputs the student's code gets. A `traced` run takes no
    short cuts: two traces are held against each other step by step.
    """

    torch = torch

    def __init__(
        self, seed: int, sizes: Mapping[str, int], device: str, *, exact: bool = False, traced: bool = False
    ) -> None:
        self._random = _STREAM
        self._random.seed(seed)
        self._seed = seed
        self._sizes = sizes
        self._exact = exact
        self._traced = traced
        self.device = torch.device(device)

    def sizes(self, names: str) -> tuple[int, ...]:
        """Return the sizes of the axes named, e.g. `sizes("B T D")`. No two axes of a trial have the same."""
        unknown = [name for name in names.split() if name not in self._sizes]
        if unknown:
            raise KeyError(f"course.toml gives no sizes for {', '.join(unknown)}")
        return tuple(self._sizes[name] for name in names.split())

    def size(self, name: str) -> int:
        """Return the size of one axis."""
        return self.sizes(name)[0]

    def normal(self, *shape: int, scale: float = 1.0, shift: float = 0.0, dtype: str = "float32") -> Tensor:
        """Return a tensor of that shape from a normal distribution."""
        values = self._random.standard_normal(shape)
        if scale != 1.0:
            values *= scale
        if shift != 0.0:
            values += shift
        return self.tensor(values, dtype)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Return a Long tensor of that shape, low <= its elements < high."""
        return self.tensor(self._random.randint(low, high, shape), "int64")

    def number(self, low: int, high: int) -> int:
        """Return an int, low <= it < high."""
        return int(self._random.randint(low, high))

    def mask(self, *shape: int, share: float = 0.6) -> Tensor:
        """Return a Bool tensor, True for about `share` of it, with a True and a False in every row of two or more."""
        allowed = self._random.random_sample(shape) < share
        first = self._random.randint(0, shape[-1], shape[:-1])
        rows = allowed.reshape(-1, shape[-1])
        rows[np.arange(len(rows)), first.reshape(-1)] = True
        if shape[-1] > 1:
            rows[np.arange(len(rows)), (first.reshape(-1) + 1) % shape[-1]] = False
        return self.tensor(allowed, "bool")

    def tensor(self, values: Any, dtype: str = "float32") -> Tensor:
        """Return known values as a tensor on the device; `exact` holds for it."""
        if dtype in _SAME_IN_NUMPY and not (self._exact or self._traced):
            made = torch.from_numpy(np.asarray(values, dtype))
        else:
            made = torch.as_tensor(np.asarray(values), dtype=getattr(torch, dtype))
        if self._exact and made.is_floating_point():
            made = made.double()
        return made if made.device == self.device else made.to(self.device)

    def load(
        self, module: Module, parameters: Mapping[str, Shape], *, dtype: str = "float32", train: bool = False
    ) -> Module:
        """Fill a module with random weights under the contract's parameter names, and return it in eval mode.

        A parameter the contract does not name stays as it was made, a bias among them becomes zero: that is a
        fault of its own, and costs its points once. Raises `StructureError` where names or shapes are missing.
        """
        if not isinstance(module, nn.Module):
            raise StructureError(f"{type(module).__name__} is no nn.Module: derive the class from nn.Module")
        state = {name: self._weight(shape, dtype) for name, shape in parameters.items()}
        return self.fill(module, state, dtype=dtype, train=train)

    def fill(
        self, module: Module, state: Mapping[str, Tensor], *, dtype: str = "float32", train: bool = False
    ) -> Module:
        """Fill a module with known weights under the contract's parameter names, and return it in eval mode.

        Raises `StructureError` where names or shapes are missing.
        """
        with torch.no_grad():
            fill(module, state)
        wanted = torch.float64 if self._exact else getattr(torch, dtype)
        if self._traced or not _is_there(module, self.device, wanted):
            module.to(device=self.device, dtype=wanted)
        return module.train(train)

    def _weight(self, shape: Shape, dtype: str) -> Tensor:
        scale = 1.2 / shape[-1] ** 0.5 if len(shape) > 1 else 0.7
        return self.normal(*shape, scale=scale, dtype=dtype)

    def trainable(self, module: nn.Module) -> dict[str, int]:
        """Observe how many numbers a module trains: the same for every layout of the contract's parameters."""
        return {"trainable numbers": sum(each.numel() for each in module.parameters() if each.requires_grad)}

    def gradients(self, output: Any, *inputs: Tensor) -> list[Tensor | None]:
        """Observe the gradients of a fixed random projection of `output`; None where none arrives."""
        if not isinstance(output, Tensor):
            raise StructureError(f"returned {type(output).__name__}, expected a tensor")
        wanted = [each for each in inputs if each.requires_grad]
        if not output.requires_grad:
            return [None] * len(wanted)
        weights = self.normal(*output.shape).to(output)
        return list(torch.autograd.grad((output * weights).sum(), wanted, allow_unused=True))

    def slope(self, output: Any, *inputs: Tensor) -> Tensor:
        """Observe, as one number, how a fixed random projection of `output` grows with all of these inputs.

        Each input grows by its own share, so the number is the same for every layout of the contract's parameters.
        """
        gradients = self.gradients(output, *inputs)
        trained = [each for each in inputs if each.requires_grad]
        found = [
            (one * other).flatten().sum(0, keepdim=True)
            for one, other in zip(gradients, trained, strict=True)
            if one is not None
        ]
        return torch.cat(found).sum() if found else output.new_zeros(())

    def slopes(self, function: Callable[..., Tensor], *inputs: Tensor) -> list[list[Tensor]]:
        """Observe how the result (..., N, M) of a function grows along a random direction of each input, in two ways.

        The first is by its gradient, the second by a small step to either side: for `Like`, which wants them to agree.
        Each is a tensor (...): what the last two axes hold is added up, with random factors. Inputs are float64.
        """
        directions = [self.normal(*each.shape, dtype="float64") for each in inputs]
        factors = self.normal(*function(*inputs).shape, dtype="float64")

        def total(*at: Tensor) -> Tensor:
            return (function(*at) * factors).sum(dim=(-2, -1))

        def moved(i: int, step: float) -> Tensor:
            at = [each + step * directions[i] if i == j else each for j, each in enumerate(inputs)]
            return total(*at).detach()

        leaves, step = [each.clone().requires_grad_() for each in inputs], 1e-5
        result = total(*leaves)
        gradients: Sequence[Tensor | None] = [None] * len(leaves)
        if result.requires_grad:
            gradients = torch.autograd.grad(result.sum(), leaves, allow_unused=True)
        found = []
        for i, (gradient, direction) in enumerate(zip(gradients, directions, strict=True)):
            slope = torch.zeros_like(direction) if gradient is None else gradient * direction
            found.append([slope.sum(dim=(-2, -1)), (moved(i, step) - moved(i, -step)) / (2 * step)])
        return found

    def raises(self, call: Callable[[], object], *mentions: object) -> dict[str, Any]:
        """Observe what `call` raises, for the judge `Raises`; `mentions` must stand in the message."""
        told = [str(each) for each in mentions]
        try:
            result = call()
        except (NotImplementedError, StructureError, MemoryError):
            raise
        except Exception as error:
            types = [each.__name__ for each in type(error).__mro__]
            return {"raised": types, "message": str(error)[:400], "mentions": told}
        return {"raised": [], "message": f"returned {type(result).__name__}", "mentions": told}

    @contextmanager
    def another_device(self) -> Iterator[torch.device]:
        """Within it there is another device: an accelerator where the checks run on one, else one that is pretended.

        Make the module before, on the CPU, then move it and its inputs. Whatever is left on the CPU is noticed.
        """
        if self.device.type != "cpu":
            yield self.device
            return
        with another_device() as device:
            yield device

    def restart_randomness(self) -> None:
        """Seed torch's own generator, as it was before the probe: two calls then drop the same."""
        seed_torch(self._seed)


def seed_torch(seed: int) -> None:
    """Seed torch's generators: of accelerators only those that are in use, else torch keeps the call for later."""
    in_use = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    if in_use or torch.backends.mps.is_available():
        torch.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)


def _is_there(module: nn.Module, device: torch.device, dtype: torch.dtype) -> bool:
    """Whether moving a module would change nothing. Torch would move every tensor all the same, which takes long."""
    if type(module).to is not nn.Module.to or device.type != "cpu":
        return False
    parts = list(module.modules())
    tensors = [each for part in parts for held in (part._parameters, part._buffers) for each in held.values()]
    return all(type(part)._apply is nn.Module._apply for part in parts) and all(
        each.device.type == "cpu" and (each.dtype == dtype or not (each.is_floating_point() or each.is_complex()))
        for each in tensors
        if each is not None
    )
