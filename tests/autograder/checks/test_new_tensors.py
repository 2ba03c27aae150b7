"""The tensors that a call makes: which are counted, and where a call is stopped."""

import traceback
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.checks import Given, StructureError
from autograder.checks.given import NewTensors

ROWS, COLUMNS, FEATURES = 5, 9, 3


@pytest.fixture
def tensors() -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    return torch.randn(ROWS, FEATURES, requires_grad=True), torch.randn(COLUMNS, FEATURES, requires_grad=True)


class _Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:
        ctx.save_for_backward(x, y)
        return 2 * x

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        x, y = ctx.saved_tensors
        _ = x @ y.T
        return 2 * gradients[0], None


CALLS: dict[str, tuple[Callable[[Tensor, Tensor], Any], str | None]] = {
    "a product": (lambda x, y: x @ y.T, "(5, 9) by mm: 45 elements, and the limit is 44"),
    "a mask of no argument": (lambda *_: torch.ones(5, 9, dtype=torch.bool), "(5, 9) by ones"),
    "a list of results": (lambda x, y: (x @ y.T[:, :3], [torch.zeros(2), torch.zeros(50)]), "(50,) by zeros"),
    "a joined tensor": (lambda x, y: torch.cat([x @ y[i : i + 3].T for i in (0, 3, 6)], dim=1), "(5, 9) by cat"),
    "a copy into its own memory": (lambda x, y: torch.empty(5, 9).copy_(x @ y.T[:, :1]), "(5, 9) by empty"),
    "a backward pass": (lambda x, y: _Doubled.apply(x, y).sum().backward(), "(5, 9) by mm"),  # type: ignore[no-untyped-call]
    "a view": (lambda x, _: x.unsqueeze(1).expand(5, 9, 3).transpose(0, 1), None),
    "a large argument": (lambda x, y: y.view(-1)[3:].sum() + x.sum(), None),
    "small blocks, and their gradients": (
        lambda x, y: sum((x @ y[i : i + 3].T).exp().sum() for i in (0, 3, 6)).backward(),
        None,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_stopped_where_it_makes_a_tensor_that_is_too_large(name: str, tensors: tuple[Tensor, Tensor]) -> None:
    call, sentence = CALLS[name]
    given = Given(1, {}, "cpu")
    if sentence is None:
        given.bounded(lambda: call(*tensors), ROWS * COLUMNS)
        return
    with pytest.raises(StructureError) as caught:
        given.bounded(lambda: call(*tensors), ROWS * COLUMNS)
    assert sentence in str(caught.value)


def test_the_error_passes_through_the_line_that_makes_the_tensor(tensors: tuple[Tensor, Tensor]) -> None:
    x, y = tensors

    def call() -> Tensor:
        small = x @ y[:3].T
        return small.sum() + (x @ y.T).sum()

    with pytest.raises(StructureError) as caught:
        Given(1, {}, "cpu").bounded(call, ROWS * COLUMNS)
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__) if frame.name == "call"]
    assert lines == ["return small.sum() + (x @ y.T).sum()"]


def test_an_error_that_the_program_catches_is_raised_again(tensors: tuple[Tensor, Tensor]) -> None:
    x, y = tensors

    def call() -> Tensor:
        try:
            return x @ y.T
        except StructureError:
            return x

    with pytest.raises(StructureError, match="limit is 44"):
        Given(1, {}, "cpu").bounded(call, ROWS * COLUMNS)


def test_a_long_axis_is_refused_only_in_what_is_computed_from_a_source(tensors: tuple[Tensor, Tensor]) -> None:
    x, y = tensors

    def bounded(call: Callable[[], Any]) -> Any:
        return Given(1, {}, "cpu").bounded(call, 1000, axis=COLUMNS, sources=(x,))

    bounded(lambda: (2 * y).T.contiguous())
    bounded(lambda: [(2 * x) @ y[i : i + 3].T for i in (0, 3, 6)])
    for call in (lambda: (x[0] * 2) @ y.T, lambda: torch.zeros(9).index_copy(0, torch.tensor([0]), x[0, :1])):
        with pytest.raises(StructureError, match="the longest axis allowed here is 8"):
            bounded(call)


def test_what_a_tensor_is_computed_from_is_known_after_a_write_into_it(tensors: tuple[Tensor, Tensor]) -> None:
    x, _ = tensors
    with NewTensors(1000, COLUMNS, [x]), torch.no_grad():
        filled = torch.zeros(3)
        filled += x[0]
        with pytest.raises(StructureError):
            filled.repeat(3)


@pytest.mark.parametrize("axes", [(), (-1,), (-1, -2)])
def test_two_ways_to_a_slope_agree_for_a_result_of_any_number_of_axes(axes: tuple[int, ...]) -> None:
    given = Given(1, {}, "cpu")
    point = given.normal(3, 4, dtype="float64")
    [[one, other]] = given.slopes(lambda x: (x**2).sum(dim=axes) if axes else x**2, point)
    assert torch.allclose(one, other, rtol=1e-6)
