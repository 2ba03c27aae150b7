"""A forbidden call of torch is refused while the exercise runs, and works again afterwards."""

import copy
import io
import itertools
import json
import sys
import threading
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.masked
import torch.utils.checkpoint
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.course import read_course
from autograder.worker.syntax import ForbiddenCallError, flags, forbid, resolve, survey
from autograder.worker.tensors import forbid_calls
from tests.proof.ways import EXERCISES, Way
from tests.support import tiny

NAMES = (
    *("torch.nn.functional.group_norm", "torch.group_norm", "torch.ops.aten.native_group_norm"),
    *("torch.linalg.matrix_power", "torch.nn.functional.gumbel_softmax", "torch.nn.Bilinear", "torch.nn.modules.fold"),
)
COURSE = read_course(tiny.REPOSITORY)
WHOLE_SUBJECTS = ("ex29_backward_by_hand", "ex33_shards", "ex36_kernel")
"""They forbid autograd, `torch.distributed` and all products, which right programs of other exercises use."""
COURSE_NAMES = sorted(
    {
        name
        for exercise in COURSE.exercises
        if exercise.id not in WHOLE_SUBJECTS
        for name in exercise.forbidden
        if not name.startswith(("package:", "torch.optim."))
    }
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
            return func(*[value.as_subclass(Tensor) if isinstance(value, Tensor) else value for value in args])


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
    "the same by its other name": lambda: torch._C._linalg.linalg_matrix_power(SQUARE, 2),  # type: ignore[attr-defined]
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
    with forbid_calls(NAMES):
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


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*torch.jit.trace.*:DeprecationWarning")
def test_a_compiled_graph_fails_by_it() -> None:
    graph = torch.jit.trace(lambda x: torch.group_norm(x, 1), X)  # type: ignore[no-untyped-call]
    with pytest.raises(RuntimeError, match="ForbiddenCallError"), forbid_calls(NAMES):
        graph(X)
    assert torch.equal(graph(X), torch.group_norm(X, 1))


@pytest.mark.long
@pytest.mark.usefixtures("refusals")
@pytest.mark.parametrize("way", WAYS)
def test_afterwards_all_is_as_before(way: str) -> None:
    WAYS[way]()


def test_a_name_that_this_torch_does_not_have_forbids_nothing() -> None:
    assert resolve("torch.nn.functional.no_such_function") is None
    with forbid_calls(["torch.nn.functional.no_such_function", "torch.ops.aten.no_such_operator"]):
        torch.group_norm(X, 1)


def test_what_is_raised_within_leaves_nothing_behind() -> None:
    with pytest.raises(KeyError), forbid_calls(NAMES):
        raise KeyError
    functional.gumbel_softmax(torch.group_norm(X, 1))


def ways_found() -> list[Way]:
    """The ways around forbidden calls that `make proof` found in torch, and that are in this release of it."""
    lines = (Path(__file__).parent / "ways_found.jsonl").read_text().splitlines()
    return [Way(kind, module, tuple(path), number) for kind, module, path, number in map(json.loads, lines)]


@pytest.mark.parametrize("way", ways_found(), ids=lambda way: way.name)
def test_a_way_that_the_search_found_is_refused_or_flagged(way: Way) -> None:
    exercise = EXERCISES[way.kind]
    forbidden = COURSE.exercise(exercise).forbidden
    for source in (way.source(), f"import {way.module}\nf = {way.module}.{'.'.join(way.path)}\n".encode()):
        is_refused = survey(source, forbidden)["forbidden"]
        assert is_refused or flags({f"{exercise}.py": source}, exercise, forbidden, COURSE.usual)


def through_vmap() -> Tensor:
    return torch.vmap(lambda row: (row - row.mean()) / row.std())(X)


def through_func() -> Tensor:
    layer = nn.Linear(3, 3)
    gradient = torch.func.grad(lambda values: torch.func.functional_call(layer, values, (X,)).sum())
    return gradient(dict(layer.named_parameters()))["weight"]


def through_jvp() -> Any:
    return torch.func.jvp(lambda x: torch.log_softmax(x, -1).sum(), (X,), (torch.ones_like(X),))


def through_forward_mode() -> Any:
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(X, torch.ones_like(X))
        return torch.autograd.forward_ad.unpack_dual(functional.logsigmoid(dual))


def through_checkpoint() -> Any:
    x = X.clone().requires_grad_()
    torch.utils.checkpoint.checkpoint(lambda x: x.sin().sum(), x, use_reentrant=False).backward()
    return x.grad


def through_parametrize() -> Tensor:
    class Halved(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x / 2

    layer = nn.Linear(3, 3)
    nn.utils.parametrize.register_parametrization(layer, "weight", Halved())
    return layer(X)


def through_weight_norms() -> Tensor:
    parts = [nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)), nn.utils.spectral_norm(nn.Linear(3, 3))]
    return nn.Sequential(*parts)(X)


def through_own_function() -> Any:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            return gradients[0] * ctx.saved_tensors[0]

    x = X.clone().requires_grad_()
    Doubled.apply(x).sum().backward()
    return x.grad


def compiled_by(backend: str) -> Tensor:
    call = torch.compile(lambda x: torch.softmax(x * x.var(-1, keepdim=True).add(1e-5).rsqrt(), -1), backend=backend)
    return call(X)


def through_an_optimizer() -> None:
    layer = nn.Linear(3, 3)
    optimizer = torch.optim.AdamW(layer.parameters())
    layer(X).sum().backward()
    nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    optimizer.step()


def through_a_mode() -> Tensor:
    class Counting(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    with Counting():
        return torch.softmax(X, -1)


RIGHT: dict[str, Callable[[], Any]] = {
    "vmap": through_vmap,
    "torch.func": through_func,
    "jvp": through_jvp,
    "forward mode": through_forward_mode,
    "jacrev and hessian": lambda: (torch.func.jacrev(torch.sin)(X), torch.func.hessian(lambda x: x.pow(3).sum())(X)),
    "checkpoint": through_checkpoint,
    "parametrize": through_parametrize,
    "weight and spectral norms": through_weight_norms,
    "a Function of its own": through_own_function,
    "torch.compile, eager": lambda: compiled_by("eager"),
    "torch.compile, aot_eager": lambda: compiled_by("aot_eager"),
    "an optimizer": through_an_optimizer,
    "a mode of its own": through_a_mode,
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16)(torch.matmul)(X, X.T),
    "einsum": lambda: torch.einsum("ij,kj,lj->ikl", X, X, X),
    "linalg, special, fft": lambda: (
        torch.linalg.norm(X),
        torch.special.expit(X),
        torch.fft.rfft(X),
        torch.svd_lowrank(X),
    ),
    "normalize and cosine similarity": lambda: (functional.normalize(X, dim=-1), functional.cosine_similarity(X, X)),
    "masked": lambda: torch.masked.softmax(X, -1, mask=X > 1),
    "masked tensors": lambda: torch.masked.masked_tensor(X, X > 1).sum(),
    "trace": lambda: torch.jit.trace(lambda x: x.exp() / x.exp().sum(-1, keepdim=True), X)(X),  # type: ignore[no-untyped-call]
    "dropout and embedding": lambda: nn.Sequential(nn.Embedding(9, 4), nn.Dropout(0.5))(X.long()),
    "a deep copy": lambda: copy.deepcopy(nn.Linear(3, 3))(X),
    "a saved state": lambda: torch.save(nn.Linear(3, 3).state_dict(), io.BytesIO()),
    "printed": lambda: f"{X} {X.requires_grad_(False)!r}",
    "NumPy": lambda: torch.from_numpy(np.softmax(X.numpy()) if hasattr(np, "softmax") else np.exp(X.numpy())),
    "a meta tensor": lambda: nn.utils.skip_init(nn.Linear, 3, 3)(X),
    "lazy modules": lambda: nn.LazyLinear(4)(X),
    "hooks": lambda: nn.Linear(3, 3).register_forward_hook(lambda *_: None),
    "distributions": lambda: torch.distributions.Categorical(logits=X).log_prob(torch.tensor([0, 1])),
    "pytrees": lambda: torch.utils._pytree.tree_map(torch.sin, {"x": [X]}),
    "a control-flow operator": lambda: torch.cond(X.sum() > 0, torch.sin, torch.cos, (X,)),
    "data loaders": lambda: list(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X), batch_size=1)),
    "profiler": lambda: torch.autograd.profiler.profile().__enter__(),
    "nested and sparse": lambda: torch.sparse.mm(X.to_sparse(), X.T),
    "a graph of fx": lambda: torch.fx.symbolic_trace(nn.Sequential(nn.Linear(3, 3), nn.ReLU()))(X),
    "a custom operator": lambda: own_operator()(X),
}


def own_operator() -> Any:
    def doubled(x: Tensor) -> Tensor:
        return x * 2

    return torch.library.custom_op(f"own{next(NUMBERS)}::doubled", doubled, mutates_args=())


NUMBERS = itertools.count()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", RIGHT)
def test_a_right_program_is_not_refused_whatever_of_torch_it_uses(way: str) -> None:
    with forbid_calls(COURSE_NAMES):
        RIGHT[way]()


def test_a_library_that_is_looked_through_does_not_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    class Deprecated:
        def __getattribute__(self, name: str) -> Any:
            warnings.warn(f"{name} is deprecated", FutureWarning, stacklevel=2)
            return object.__getattribute__(self, name)

    for name in ("torch.of_tests", "of_tests"):
        module = types.ModuleType(name)
        module.old = Deprecated()  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with forbid_calls(("torch.of_tests", "torch.distributed")), forbid(("of_tests",), ()):
            pass
    assert [str(one.message) for one in seen] == []
