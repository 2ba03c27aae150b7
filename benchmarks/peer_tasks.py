"""The tasks that the course shares with others: how their checks call a program of ours, and on what it can be seen.

An adapter puts the code of an exercise behind the names and signatures of the other course. A probe calls what the
adapter made in ways that the statement of the other course allows. Where a wrong program gives the solution's results,
its mistake is in something that the other course does not ask for.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Task:
    """A task of another course, the exercise of ours that is the same, and the tests that are run.

    `probe` returns what the results are compared by, up to `tolerance`. A course with pytest has `tests`, and asks for
    a `function` among its adapters. The mistakes in `allowed` are none by the words of their statement.
    """

    course: str
    name: str
    exercise: str
    adapter: Callable[[ModuleType], Any]
    probe: Callable[[Any], Sequence[Any]]
    function: str = ""
    tests: tuple[str, ...] = ()
    tolerance: float = 1e-4
    allowed: tuple[str, ...] = ()


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Return random numbers, the same in each call."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def gradient(x: Tensor) -> Tensor:
    """Return the gradient of a tensor; none is a single zero."""
    return torch.zeros(()) if x.grad is None else x.grad


def flat(results: Any) -> Iterator[Tensor]:
    """Yield the tensors of a result, which may be a tuple of others."""
    if isinstance(results, tuple):
        for result in results:
            yield from flat(result)
    else:
        yield results


def graded(call: Callable[..., Any], *inputs: Tensor) -> list[Tensor]:
    """Return the results of a call and the gradients of its inputs."""
    leaves = [x.clone().requires_grad_() for x in inputs]
    results = list(flat(call(*(x * 1 for x in leaves))))  # which a program may overwrite
    sum((result * normal(*result.shape, seed=9)).sum() for result in results).backward()
    return [*results, *map(gradient, leaves)]


def probe_layers(module: Any, layers: Sequence[Any], *inputs: Tensor) -> list[Tensor]:
    """Give layers known weights and no bias; return the results of the module and all gradients."""
    for i, layer in enumerate(layers):
        with torch.no_grad():
            layer.weight.copy_(normal(*layer.weight.shape, seed=10 + i) / 2)
            if getattr(layer, "bias", None) is not None:
                layer.bias.zero_()
    return [*graded(module.forward, *inputs), *(gradient(layer.weight) for layer in layers)]


def probe_attention_layers(module: Any, *inputs: Tensor) -> list[Tensor]:
    """Probe an attention whose layers have the names of the other course."""
    return probe_layers(module, [module.W_q, module.W_k, module.W_v, module.W_o], *inputs)


def probe_attention(attend: Any) -> list[Tensor]:
    """Attend within a sequence, and to another one with wider values."""
    own = graded(attend, normal(2, 4, 8), normal(2, 4, 8, seed=1), normal(2, 4, 8, seed=2))
    return own + graded(attend, normal(1, 3, 16), normal(1, 5, 16, seed=1), normal(1, 5, 32, seed=2))


def cross_entropy(code: ModuleType) -> Any:
    """Make a sequence of one sentence; no label is padding."""
    return lambda logits, targets: code.sequence_loss(logits.unsqueeze(0), targets.unsqueeze(0), pad_idx=-100)


def probe_cross_entropy(loss: Any) -> list[Tensor]:
    """Compare scores of usual size, and large ones. No class is 0: with us that may be padding."""
    call = partial(loss, targets=torch.tensor([1, 3, 9, 3]))
    return [*graded(call, normal(4, 10)), *graded(call, 1000 * normal(4, 10))]


def probe_optimizer(make: Any) -> list[Tensor]:
    """Make six steps with two parameters, with the usual values and with others."""
    results = []
    for settings in ({"lr": 0.01}, {"lr": 0.1, "betas": (0.5, 0.8), "eps": 0.5}):
        parameters = [normal(3, 2).requires_grad_(), normal(4, seed=1).requires_grad_()]
        optimizer = make(parameters, **settings)
        for step in range(6):
            optimizer.zero_grad()
            sum(((x - step) ** 2).sum() for x in parameters).backward()
            optimizer.step()
            results += [x.detach().clone() for x in parameters]
    return results


def probe_cosine(rate: Any, last: int = 20) -> list[Tensor]:
    """Ask for the rates of a whole schedule."""
    return [torch.tensor([float(rate(step, 20, 4, 1.0, 0.1)) for step in range(last + 1)])]
