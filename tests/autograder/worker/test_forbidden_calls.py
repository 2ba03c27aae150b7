"""A forbidden call cannot be made in any way while the exercise runs, and works again afterwards."""

import collections
import copy
import importlib
import inspect
import io
import itertools
import json
import subprocess
import sys
import threading
import types
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
from autograder.worker import forbidden_calls as library_guard
from autograder.worker.bans import ForbiddenCallError, resolve
from autograder.worker.forbidden_calls import forbid_calls
from tests.proof import conventions
from tests.proof.ways import Way
from tests.support import tiny

NAMES = (
    *("torch.nn.functional.group_norm", "torch.group_norm", "torch.ops.aten.native_group_norm"),
    *("torch.linalg.matrix_power", "torch.nn.functional.gumbel_softmax", "torch.nn.Bilinear", "torch.nn.modules.fold"),
)
COURSE_NAMES = sorted(
    {
        name
        for exercise in read_course(tiny.REPOSITORY).exercises
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


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ways_found(), ids=lambda way: way.name)
def test_a_way_that_the_search_found_is_refused(way: Way) -> None:
    try:
        call: Any = importlib.import_module(way.module)
        for part in way.path:
            call = getattr(call, part)
    except (ImportError, AttributeError):
        pytest.skip("this release of torch has no such function")
    names = {**conventions.names_of(), "f": call}
    line = conventions.CONVENTIONS[way.kind][way.number]
    right = conventions.picked(
        eval(line, names), conventions.expected(way.kind, masked="bias" in line or "mask" in line)
    )
    assert right is not None, "the way leads to the numbers"
    with pytest.raises(ForbiddenCallError), forbid_calls(COURSE_NAMES):
        eval(line, {**conventions.names_of(), "f": call})


def test_a_call_that_a_program_restores_is_noticed() -> None:
    with forbid_calls(NAMES) as ban:
        ban.check()
        ban._libraries["aten"].reset()
        with pytest.raises(ForbiddenCallError):
            ban.check()
    with forbid_calls(NAMES) as ban:
        functional.gumbel_softmax.__code__ = ban._original[functional.gumbel_softmax]
        with pytest.raises(ForbiddenCallError):
            ban.check()
    with forbid_calls(NAMES) as ban:
        library_guard._active.clear()
        with pytest.raises(ForbiddenCallError):
            ban.check()


def test_a_guarded_function_keeps_its_signature_its_place_and_its_variables() -> None:
    def outer(added: int) -> Any:
        def inner(a: int, /, b: int, *rest: int, c: int = 3, **others: int) -> Any:
            return a, b, rest, c, others, added, sys._getframe(1).f_locals and 1

        return inner

    plain, guarded = outer(7), outer(7)
    library_guard.guard(guarded)
    assert guarded(1, 2, 3, c=4, d=5) == plain(1, 2, 3, c=4, d=5)
    assert guarded(1, b=2) == plain(1, b=2)
    assert inspect.signature(guarded) == inspect.signature(plain)
    assert inspect.getsource(guarded) == inspect.getsource(plain)


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


LIBRARY = '''
"""What libraries do with torch, with mappings and with modules."""
import collections
import functools
import sys
import torch
from torch import nn

class Settings(dict):
    """As of matplotlib: a mapping that is a dict, whose methods call functions of its own module."""
    def values(self):
        return [self[key] for key in self]
    def __iter__(self):
        yield from sorted(keys_of(self))
    def __getitem__(self, key):
        return checked(self, dict.__getitem__(self, key))

class Lazy(collections.abc.Mapping):
    def __getitem__(self, key): return checked(self, key)
    def __iter__(self): return iter(keys_of(self))
    def __len__(self): return len(keys_of(self))
    @property
    def __class__(self): return checked(self, type(self))

class Pairs(list):
    def __iter__(self): return iter(keys_of(self))

def keys_of(owner): return list(dict.keys(owner)) if isinstance(owner, dict) else []
def checked(owner, value): return value
def use(settings, lazy, pairs): return (dict.__len__(settings), len(lazy), sorted(pairs))
def norm(x, **others): return x - x.mean()

class Odd:
    """In `sys.modules` it is found where a module is expected."""
    __slots__ = ()
    def __getattr__(self, name): raise ImportError(name)

sys.modules["own_library_odd"] = Odd()
SETTINGS = use(Settings(a=1), Lazy(), Pairs())
MADE = nn.Fold((2, 2), 1)(torch.ones(1, 4, 4))
NORM = torch.group_norm(torch.ones(1, 2), 1)
TABLE = norm(torch.ones(3))
wrapped = torch.sin
'''

PLAIN = "def drawn(values, *, title=''):\n    return [float(value) for value in values]\n"
"""A library without torch: it draws, and computes nothing that an exercise forbids."""

LAZY = "def normed(x):\n    import torch.nn.functional as F\n    return F.relu(x)\n"
"""A library that imports torch where it needs it."""


@pytest.fixture
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    for name, text in {"own_library": LIBRARY, "own_plain": PLAIN, "own_lazy": LAZY}.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setitem(sys.modules, "own_library_odd", None)


@pytest.mark.usefixtures("libraries")
def test_a_library_is_imported_and_used_whatever_it_does() -> None:
    """It may make forbidden calls while it is imported. Later, its guards run none of its methods."""
    with forbid_calls(NAMES) as ban:
        library: Any = importlib.import_module("own_library")
        assert library.SETTINGS == (1, 0, [])
        assert library.use(library.Settings(a=1), library.Lazy(), library.Pairs([1])) == (1, 0, [])
        assert library.NORM.shape == (1, 2)
        with pytest.raises(ForbiddenCallError):
            torch.group_norm(X, 1)
        ban.check()
    with forbid_calls(NAMES):  # modules that are loaded already are visited once more
        assert library.use(library.Settings(a=1), library.Lazy(), library.Pairs([1])) == (1, 0, [])


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize(
    "given",
    [
        (X,),
        ([{"x": [X]}],),
        (collections.UserDict(x=X),),
        (types.MappingProxyType({"x": X}),),
        (collections.OrderedDict(x=X),),
        (collections.ChainMap({"x": X}),),
    ],
    ids=lambda given: type(given[0]).__name__,
)
def test_a_library_that_uses_torch_gets_no_tensors(given: tuple[Any, ...]) -> None:
    with forbid_calls(NAMES):
        library: Any = importlib.import_module("own_library")
        with pytest.raises(ForbiddenCallError, match=r"own_library\.norm"):
            library.norm(*given)
        with pytest.raises(ForbiddenCallError, match=r"own_library\.norm"):
            library.norm(1, more=given[0])
        with pytest.raises(ForbiddenCallError, match=r"own_lazy\.normed"):
            importlib.import_module("own_lazy").normed(*given)


@pytest.mark.usefixtures("libraries")
def test_a_library_without_torch_gets_tensors() -> None:
    with forbid_calls(NAMES):
        assert importlib.import_module("own_plain").drawn(X[0]) == [0.0, 1.0, 2.0]


@pytest.mark.worker
@pytest.mark.long
def test_what_a_plot_needs_changes_no_verdict() -> None:
    """The libraries of the development environment, in a process that has loaded none of them."""
    program = """
import warnings
import torch
from autograder.worker.forbidden_calls import forbid_calls
warnings.simplefilter("ignore")
with forbid_calls(["torch.*attention*", "torch.*layer_norm*", "torch.nn.Transformer*"]) as ban:
    import IPython.display, matplotlib, networkx, rich.progress, sympy, tqdm.auto, typing_extensions
    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots()
    axes.imshow(torch.ones(3, 4))
    axes.plot(torch.arange(3), label="x")
    figure.canvas.draw()
    assert [x for x in tqdm.auto.tqdm([1, 2], disable=True)] == [1, 2]
    IPython.display.HTML("<b>x</b>")
    ban.check()
    try:
        torch.nn.functional.layer_norm(torch.ones(2), (2,))
    except Exception as error:
        print(type(error).__name__)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert (ran.returncode, ran.stdout.strip()) == (0, "ForbiddenCallError"), ran.stderr
