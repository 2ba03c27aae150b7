"""The pretended device: correct programs compute on it what they compute on the CPU, wrong ones are noticed."""

import copy
import math
from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from autograder.checks import DeviceMixError, Elsewhere, another_device

V, D, T = 11, 8, 5


class Model(nn.Module):
    """One attention over embedded tokens; the parts that a device matters to are methods to override."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Embedding(V, D), nn.Embedding(T, D)
        self.layers = nn.ModuleList([nn.Linear(D, D)])
        self.out = nn.Linear(D, V)
        self.cache: dict[str, Tensor] = {}
        self.make()

    def make(self) -> None:
        self.register_buffer("mask", torch.ones(T, T).tril().bool())

    def places(self, ids: Tensor) -> Tensor:
        return self.positions(torch.arange(ids.size(1), device=ids.device))

    def allowed(self, scores: Tensor) -> Tensor:
        return self.mask

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids) * math.sqrt(D) + self.places(ids)
        scores = x @ x.transpose(-2, -1) / math.sqrt(D)
        weights = scores.masked_fill(~self.allowed(scores), torch.finfo(scores.dtype).min).softmax(-1)
        return self.after(self.out(self.layers[0](weights @ x)))

    def after(self, logits: Tensor) -> Tensor:
        return logits


def program(**methods: Callable[..., object]) -> type[Model]:
    return type("Program", (Model,), methods)


def lazily(self: Model, scores: Tensor) -> Tensor:
    if "mask" not in self.cache or self.cache["mask"].device != scores.device:
        self.cache["mask"] = torch.ones(T, T, device=scores.device).tril().bool()
    return self.cache["mask"]


def once(self: Model, scores: Tensor) -> Tensor:
    if "mask" not in self.cache:
        self.cache["mask"] = torch.ones(T, T, device=scores.device).tril().bool()
    return self.cache["mask"]


def branching(self: Model, logits: Tensor) -> Tensor:
    return logits * 2 if logits.sum().item() > 0 or bool(logits.isnan().any()) else logits - 1


def generating(self: Model, logits: Tensor) -> Tensor:
    ids = logits.argmax(-1)
    for _ in range(3):
        ids = torch.cat([ids, ids[:, -1:]], dim=1)
    return logits + ids.sum() + sum(ids[0].tolist())


def assigned(logits: Tensor) -> Tensor:
    logits[:, [0, 2]] = 0.0
    logits[0, 0] = 3.0
    logits[logits > 2] = 1.0
    return logits


def replaced(self: Model, logits: Tensor) -> Tensor:
    before = self.out.bias.data
    self.out.bias.data = torch.full_like(before, 2.0)
    result = logits * 1 + self.out.bias
    self.out.bias.data = before
    return result


def with_sparse_rows(self: Model) -> None:
    Model.make(self)
    self.embedding = nn.Embedding(V, D, sparse=True)


def with_a_list(self: Model) -> None:
    Model.make(self)
    self.hidden = [nn.Linear(V, V)]


def with_a_scale(self: Model) -> None:
    Model.make(self)
    self.cache["scale"] = torch.ones(V)


RIGHT = {
    "buffer": program(),
    "moved to the device of x": program(allowed=lambda self, scores: torch.ones(T, T).tril().bool().to(scores.device)),
    "made on the device of x": program(
        allowed=lambda self, scores: torch.ones(T, T, device=scores.device, dtype=torch.bool).tril()
    ),
    "new_ones": program(allowed=lambda self, scores: scores.new_ones(T, T).tril().bool()),
    "like": program(allowed=lambda self, scores: torch.ones_like(scores[0]).tril().bool()),
    "number of no axes": program(after=lambda self, logits: logits * torch.tensor(2.0)),
    "index on the CPU": program(after=lambda self, logits: logits[:, torch.tensor([1, 0])]),
    "tensor of numbers": program(after=lambda self, logits: logits + torch.tensor([1.0] * V, device=logits.device)),
    "branch on a value": program(after=branching),
    "list as an index": program(after=lambda self, logits: logits[:, [2, 0], :][range(1)]),
    "lists as an index": program(after=lambda self, logits: logits[[0, 1, 0], [2, 0, 1]].unsqueeze(1)),
    "list that chooses": program(after=lambda self, logits: logits[[False, True]]),
    "NumPy as an index": program(after=lambda self, logits: logits[:, np.array([1, 0])]),
    "assigned by a list": program(after=lambda self, logits: assigned(logits.clone())),
    "tensor of single tensors": program(
        after=lambda self, logits: logits * torch.tensor(list(logits.detach()[0, 0]), device=logits.device).sum()
    ),
    "new_tensor": program(after=lambda self, logits: logits + logits.new_tensor(range(V))),
    "new": program(after=lambda self, logits: logits + logits.new([2.0] * V)),
    "shape changed in place": program(
        after=lambda self, logits: (logits * 1).unsqueeze_(1).transpose_(1, 2).expand(-1, -1, 2, -1).sum(2)
    ),
    "printed": program(after=lambda self, logits: logits * float(f"{logits[0, 0, 0]:.3f}")),
    "data replaced": program(after=replaced),
    "sparse gradient": program(make=with_sparse_rows),
    "cache by device": program(allowed=lazily),
    "generation loop": program(after=generating),
}

WRONG = {
    "arange on the CPU": program(places=lambda self, ids: self.positions(torch.arange(ids.size(1)))),
    "mask on the CPU": program(allowed=lambda self, scores: torch.ones(T, T).tril().bool()),
    "plain attribute": program(make=lambda self: setattr(self, "mask", torch.ones(T, T).tril().bool())),
    "list of modules": program(
        make=with_a_list,
        after=lambda self, logits: self.hidden[0](logits),
    ),
    "zeros on the CPU": program(after=lambda self, logits: logits + torch.zeros(V)),
    "numpy": program(after=lambda self, logits: torch.from_numpy(logits.detach().numpy()) + logits),
    "returned on the CPU": program(after=lambda self, logits: logits.cpu()),
    "cat with the CPU": program(after=lambda self, logits: torch.cat([logits, torch.zeros(2, 1, V)], dim=1)),
    "device named": program(after=lambda self, logits: logits + torch.ones(V, device="cpu")),
    "cache never moved": program(allowed=once),
    "hidden in a dict": program(
        make=with_a_scale,
        after=lambda self, logits: logits * self.cache["scale"],
    ),
    "tensor of numbers on the CPU": program(after=lambda self, logits: logits + torch.tensor([1.0] * V)),
    "where with the CPU": program(after=lambda self, logits: torch.where(logits > 0, logits, torch.zeros(2, T, V))),
}


def run(made: type[Model]) -> tuple[Tensor, Tensor, list[Tensor]]:
    torch.manual_seed(0)
    model, ids = made(), torch.randint(0, V, (2, T))
    on_cpu = model(ids)
    with another_device() as device:
        model.to(device)
        output = model(ids.to(device))
        functional.cross_entropy(
            output.flatten(0, 1), ids.to(device).flatten()[: output.size(0) * output.size(1)]
        ).backward()
        return on_cpu, output, [parameter.grad for parameter in model.parameters() if parameter.grad is not None]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_runs_elsewhere_with_the_values_of_the_cpu(name: str) -> None:
    on_cpu, output, gradients = run(RIGHT[name])
    assert isinstance(output, Elsewhere)
    assert torch.equal(output.cpu_tensor, on_cpu)
    assert gradients
    assert all(isinstance(gradient, Elsewhere) for gradient in gradients)


@pytest.mark.parametrize("name", WRONG)
def test_a_tensor_left_on_the_cpu_is_noticed(name: str) -> None:
    try:
        _, output, _ = run(WRONG[name])
    except (DeviceMixError, RuntimeError):
        return
    assert not isinstance(output, Elsewhere)


@pytest.mark.long
def test_an_optimizer_steps_elsewhere() -> None:
    torch.manual_seed(0)
    model, ids = Model(), torch.randint(0, V, (2, T))
    with another_device() as device:
        model.to(device)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        losses = []
        for _ in range(5):
            loss = functional.cross_entropy(model(ids.to(device)).flatten(0, 1), ids.to(device).flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_runs_elsewhere_without_gradients(
    name: str, mode: Callable[[], AbstractContextManager[None]]
) -> None:
    torch.manual_seed(0)
    model, ids = RIGHT[name](), torch.randint(0, V, (2, T))
    with mode():
        on_cpu = copy.deepcopy(model)(ids)
    with another_device() as device:
        model.to(device)
        moved = ids.to(device)
        with mode():
            output = model(moved)
    assert isinstance(output, Elsewhere)
    assert torch.equal(output.cpu_tensor, on_cpu)


def test_a_tensor_on_the_cpu_is_used_as_ever_within_it() -> None:
    with another_device():
        assert torch.ones(2).unsqueeze_(0).shape == (1, 2)
        assert torch.arange(4)[[1, 3]].tolist() == [1, 3]


def test_nothing_is_left_behind_after_it() -> None:
    with another_device() as device:
        torch.ones(2, device=device)
    assert torch.ones(2, device="meta").is_meta
    assert not isinstance(torch.ones(2), Elsewhere)
