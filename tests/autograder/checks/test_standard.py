"""Standard checks: each notices the mistake that it is about, and nothing else."""

from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn

from autograder.checks import HINTS, Check, Given, checks_in
from autograder.checks.language import standard_checks
from autograder.comparison import Expected, passes
from autograder.course.reader import HINT_LENGTH
from autograder.runner import Observed
from autograder.worker import support
from autograder.worker.session import observe
from autograder.worker.tensors import TensorSupport

SIZES = {"B": 3, "T": 5, "D": 4}


class Scaled(nn.Module):
    """A right module: it multiplies each feature by a trained number."""

    def __init__(self, rate: float = 0.0) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.linspace(1.0, 2.0, SIZES["D"]))
        self.register_buffer("shift", torch.ones(SIZES["D"]))
        self.dropout = nn.Dropout(rate)

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(x * self.scale + self.shift)


class Writing(Scaled):
    def forward(self, x: Tensor) -> Tensor:
        x.add_(1.0)
        return super().forward(x - 1.0)


class Widening(Scaled):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).float()


class OnTheCPU(Scaled):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + torch.zeros(SIZES["D"], dtype=x.dtype)


class OfThreeAxes(Scaled):
    def forward(self, x: Tensor) -> Tensor:
        batch, length, features = x.shape
        return super().forward(x).view(batch, length, features)


class Cut(Scaled):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.detach())


class Untrained(Scaled):
    def __init__(self, rate: float = 0.0) -> None:
        super().__init__(rate)
        self.scale.requires_grad_(False)


class NeverDropping(Scaled):
    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale + self.shift


def make(impl: Any, given: Any, dtype: str) -> tuple[Any, dict[str, Any]]:
    shape = given.sizes("B T D")
    return impl.Layer(0.4).to(getattr(torch, dtype)).eval(), {"x": given.normal(*shape, dtype=dtype)}


LAYER = standard_checks(of="Layer", make=make)
PROBES = [
    LAYER.inputs_kept(),
    LAYER.dtypes(features=3, dtypes=("float64", "float16")),
    LAYER.device(),
    LAYER.leading_axes(),
    LAYER.training(0.4),
    LAYER.gradients(),
    LAYER.parameters(),
]
CHECKS = checks_in(cast("ModuleType", SimpleNamespace(**{probe.__name__: probe for probe in PROBES})))


@pytest.fixture(autouse=True)
def _with_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "_loaded", TensorSupport())


def observed(check: Check, module: type[nn.Module]) -> Observed | None:
    given = Given(7, {**SIZES, "B": 60} if check.id == "training" else SIZES, "cpu")
    given.restart_randomness()
    try:
        return Observed(observe(check.probe(SimpleNamespace(Layer=module), given)))
    except (RuntimeError, ValueError):
        return None


def failing(module: type[nn.Module]) -> set[str]:
    """Return the checks that a module fails."""
    failed = set()
    for check in CHECKS:
        right, found = observed(check, Scaled), observed(check, module)
        assert right is not None
        if found is None or not passes(found, Expected(right.value, right.value), check.judge):
            failed.add(check.id)
    return failed


def test_a_right_module_passes_all_of_them() -> None:
    assert [check.id for check in CHECKS] == [*HINTS]
    assert failing(Scaled) == set()


@pytest.mark.parametrize(
    ("module", "failed"),
    [
        (Writing, {"inputs_kept"}),
        (Widening, {"dtypes"}),
        (OnTheCPU, {"device"}),
        (OfThreeAxes, {"leading_axes"}),
        (NeverDropping, {"training"}),
        (Cut, {"gradients"}),
        (Untrained, {"parameters"}),
    ],
)
def test_each_notices_the_mistake_that_it_is_about(module: type[nn.Module], failed: set[str]) -> None:
    assert failing(module) == failed


def test_a_function_needs_no_parameters() -> None:
    def make_double(impl: Any, given: Any, dtype: str) -> tuple[Any, dict[str, Any]]:
        return impl.double, {"x": given.normal(2, 3, dtype=dtype)}

    of_function = standard_checks(of="double", make=make_double)
    seen = of_function.device()(SimpleNamespace(double=lambda x: 2 * x), Given(7, SIZES, "cpu"))
    assert [*seen] == ["output"]


def test_a_result_may_have_no_axes() -> None:
    def make_loss(impl: Any, given: Any, dtype: str) -> tuple[Any, dict[str, Any]]:
        return impl.loss, {"x": given.normal(2, 3, 4, dtype=dtype)}

    impl, loss = SimpleNamespace(loss=lambda x: x.mean()), standard_checks(of="loss", make=make_loss)
    probes = (loss.inputs_kept(), loss.dtypes(), loss.device(), loss.leading_axes(), loss.gradients())
    seen = [probe(impl, Given(7, SIZES, "cpu")) for probe in probes]
    assert {name: value.shape for name, value in seen[1].items()}["float64"] == ()
    assert [value.shape for value in seen[2]["output"]] == [(), ()]


def test_options_of_a_check_replace_the_defaults() -> None:
    probe = LAYER.device(id="moved", title="it can move", points=3, trials=2, requires_any=("values",))
    [check] = checks_in(cast("ModuleType", SimpleNamespace(probe=probe)))
    assert (check.id, check.title, check.points, check.trials, check.of) == ("moved", "it can move", 3, 2, "Layer")
    assert check.requires_any == ("values",)
    assert check.hints == HINTS["device"]


def test_the_default_hints_are_as_long_as_those_of_a_course_may_be() -> None:
    for hints in HINTS.values():
        assert len(hints) == 3
        for hint in hints:
            assert len(hint) <= HINT_LENGTH
            assert 8 <= len(hint.split()) <= 40
        assert hints[0].endswith("?")


def test_a_result_that_varies_is_put_into_words() -> None:
    given = Given(7, SIZES, "cpu")
    calls = iter(range(6))
    assert given.steady(lambda: torch.full((2,), float(next(calls)))) == "other numbers in each call"
    assert given.steady(lambda: torch.full((2,), float("nan"))).isnan().all()
    assert given.steady(lambda: [next(calls)]) == [2], "only tensors are compared"


@pytest.mark.parametrize(
    ("dtype", "meant"),
    [
        (None, 'dtype is None, expected a text like "float16"'),
        (torch.float16, 'dtype is torch.float16, expected the text "float16"'),
        ("float61", "dtype is 'float61', expected a text like"),
        ("nn", "dtype is 'nn', expected a text like"),
        (float, "dtype is <class 'float'>, expected a text like"),
    ],
)
def test_another_dtype_than_a_name_is_refused_with_what_was_meant(dtype: Any, meant: str) -> None:
    given = Given(1, {}, "cpu")
    calls = (
        lambda: given.load(nn.Linear(2, 3), {"weight": (3, 2), "bias": (3,)}, dtype=dtype),
        lambda: given.fill(nn.Linear(2, 3), {}, dtype=dtype),
        lambda: given.tensor([1.0], dtype),
    )
    for call in calls:
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value).startswith(meant)
        assert str(caught.value).endswith("; leave dtype out for float32")


@pytest.mark.parametrize(
    ("result", "found"),
    [
        (lambda x: x, "function"),
        ((torch.exp, torch.ones(2)), "builtin_function_or_method and Tensor"),
        ((1, 2, 3), "int and int and int"),
    ],
)
def test_a_make_without_a_dict_of_inputs_is_reported(result: Any, found: str) -> None:
    checks = standard_checks(of="layer", make=lambda *_: result)
    for probe in (checks.inputs_kept(), checks.dtypes(), checks.device(), checks.gradients(), checks.training(0.5)):
        with pytest.raises(TypeError) as caught:
            probe(SimpleNamespace(), Given(1, {}, "cpu"))
        assert str(caught.value).startswith(f"make of the standard checks of layer returns {found}, expected what is")
        assert str(caught.value).endswith('like `return impl.layer, {"x": x}`')
