"""What an exercise forbids is not to be had while it runs, by whatever way, and is there again afterwards."""

import threading
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from autograder.worker.forbidding import forbidding, resolve
from autograder.worker.passages import ForbiddenCallError

NAMES = (
    *("torch.nn.functional.group_norm", "torch.group_norm", "torch.ops.aten.native_group_norm"),
    *("torch.linalg.matrix_power", "torch.nn.functional.gumbel_softmax", "torch.nn.Bilinear", "torch.nn.modules.fold"),
)
X = torch.arange(6.0).view(2, 3)
SQUARE = torch.ones(2, 2)
BILINEAR = nn.Bilinear(3, 3, 1)
gumbel = functional.gumbel_softmax


def in_a_thread(call: Callable[[], Any]) -> Any:
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(call())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def with_modes_off(call: Callable[[], Any]) -> Any:
    with torch._C.DisableTorchFunction():
        return call()


def compiled_as(file: str) -> Any:
    names: dict[str, Any] = {"torch": torch}
    exec(compile("def call(x): return torch.nn.functional.gumbel_softmax(x)", file, "exec"), names)
    return names["call"](X)


def in_inference_mode() -> Tensor:
    with torch.inference_mode():
        return torch.group_norm(torch.ones(2, 3), 1)


class Subclass(Tensor):
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with torch._C.DisableTorchFunctionSubclass():
            return func(*[each.as_subclass(Tensor) if isinstance(each, Tensor) else each for each in args])


def copied(function: Any) -> Any:
    return types.FunctionType(function.__code__, function.__globals__, "copy", function.__defaults__)


KERNEL = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
native = torch.ops.aten.native_group_norm.default
WAYS: dict[str, Callable[[], Any]] = {
    "an operator": lambda: torch.group_norm(X, 1),
    "a function over it": lambda: functional.group_norm(X, 1),
    "a module over it": lambda: nn.GroupNorm(1, 3)(X),
    "an operator's part": lambda: torch.native_group_norm(X, None, None, 2, 3, 1, 1, 1e-5),
    "an operator of a part of torch": lambda: torch.linalg.matrix_power(SQUARE, 2),
    "the same by its other name": lambda: torch._C._linalg.linalg_matrix_power(SQUARE, 2),
    "with an output": lambda: torch.linalg.matrix_power(SQUARE, 2, out=torch.empty(2, 2)),
    "torch.ops": lambda: torch.ops.aten.group_norm(X, 1),
    "an overload": lambda: torch.ops.aten.group_norm.default(X, 1),
    "a decomposition": lambda: torch.ops.aten.group_norm.default.decompose(X, 1),
    "a kernel": lambda: native.redispatch(KERNEL, X, None, None, 2, 3, 1, 1, 1e-5),
    "an operator, modes off": lambda: with_modes_off(lambda: torch.group_norm(X, 1)),
    "an operator in a thread": lambda: in_a_thread(lambda: torch.group_norm(X, 1)),
    "inference mode": in_inference_mode,
    "vmap": lambda: torch.vmap(lambda x: torch.group_norm(x[None], 1))(X),
    "grad": lambda: torch.func.grad(lambda x: torch.group_norm(x, 1).sum())(X),
    "a subclass": lambda: torch.group_norm(X.as_subclass(Subclass), 1),
    "autocast": lambda: torch.autocast("cpu")(torch.group_norm)(X, 1),
    "meta": lambda: torch.group_norm(X.to("meta"), 1),
    "a function": lambda: functional.gumbel_softmax(X),
    "a function held before": lambda: gumbel(X),
    "a function, modes off": lambda: with_modes_off(lambda: functional.gumbel_softmax(X)),
    "a function in a thread": lambda: in_a_thread(lambda: functional.gumbel_softmax(X)),
    "a function's copy": lambda: copied(gumbel)(X),
    "a function, by a file of torch": lambda: compiled_as(functional.__file__),
    "a function, by a stand-in's name": lambda: compiled_as("stand_ins/ex01_first.py"),
    "a module": lambda: BILINEAR(X, X),
    "a module's making": lambda: nn.Bilinear(3, 3, 1),
    "a module's method": lambda: nn.Bilinear.forward(BILINEAR, X, X),
    "what a forbidden module defines": lambda: nn.Fold((2, 2), 1),
}


@pytest.fixture(scope="module")
def refusals() -> dict[str, Any]:
    """What came of every way, all in one stretch."""
    found: dict[str, Any] = {}
    with forbidding(NAMES):
        for way, call in WAYS.items():
            try:
                found[way] = call()
            except BaseException as error:
                found[way] = error
    return found


@pytest.mark.parametrize("way", WAYS)
def test_a_forbidden_call_is_refused_by_whatever_way(refusals: dict[str, Any], way: str) -> None:
    assert isinstance(refusals[way], ForbiddenCallError)
    assert str(refusals[way]) in NAMES


@pytest.mark.filterwarnings("ignore:.*torch.jit.trace.*:DeprecationWarning")
def test_a_compiled_graph_fails_by_it() -> None:
    graph = torch.jit.trace(lambda x: torch.group_norm(x, 1), X)  # type: ignore[no-untyped-call]
    with pytest.raises(RuntimeError, match="ForbiddenCallError"), forbidding(NAMES):
        graph(X)
    assert torch.equal(graph(X), torch.group_norm(X, 1))


@pytest.mark.usefixtures("refusals")
@pytest.mark.parametrize("way", WAYS)
def test_afterwards_all_is_as_before(way: str) -> None:
    WAYS[way]()


def test_a_name_that_this_torch_does_not_have_forbids_nothing() -> None:
    assert resolve("torch.nn.functional.no_such_function") is None
    with forbidding(["torch.nn.functional.no_such_function", "torch.ops.aten.no_such_operator"]):
        torch.group_norm(X, 1)


def test_what_is_raised_within_leaves_nothing_behind() -> None:
    with pytest.raises(KeyError), forbidding(NAMES):
        raise KeyError
    functional.gumbel_softmax(torch.group_norm(X, 1))
