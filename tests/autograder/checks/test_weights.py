"""A correct class gets known weights, even if its hook expects another layout of an earlier exercise."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograder.answer_key import AnswerKey, Keys
from autograder.checks import ReferencePart, StructureError
from autograder.checks.given import Given, fill
from autograder.course import Suite, load_suite, read_course
from autograder.judge import Verdicts, result_of
from autograder.runner import NO_SURVEY, Runner
from tests.support import tiny

ATTENTION = "ex06_multi_head_attention.py"
SOLUTIONS = tiny.REPOSITORY / "solutions"
LATER = ("ex08_encoder", "ex09_decoder")


class Part(ReferencePart):
    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(2, 3)


class Outer(nn.Module):
    def __init__(self, part: nn.Module) -> None:
        super().__init__()
        self.part = part
        self.own = nn.Parameter(torch.zeros(2, 4))


STATE = {
    "part.one.weight": torch.randn(3, 2),
    "part.one.bias": torch.randn(3),
    "scale": torch.randn(4),
    "shift": torch.randn(4),
}


class Delegates(Outer):
    def from_reference(self, state: Mapping[str, Tensor]) -> None:
        within = {name.removeprefix("part."): tensor for name, tensor in state.items() if name.startswith("part.")}
        self.part.from_reference(within)  # type: ignore[operator]
        self.own.copy_(torch.stack([state["scale"], state["shift"]]))


class Reaches(Outer):
    def from_reference(self, state: Mapping[str, Any]) -> None:
        part: Any = self.part
        part.fused.weight[:, : part.size // 2].copy_(state["part.one.weight"])
        part.fused.bias.data = state["part.one.bias"]
        self.own.copy_(torch.stack([state["scale"], state["shift"]]))


class Fails(Outer):
    def from_reference(self, state: Mapping[str, Tensor]) -> None:
        self.own.copy_(state["scales"])


class Derived(Part):
    def __init__(self) -> None:
        super().__init__()
        self.more = nn.Parameter(torch.zeros(4))

    def from_reference(self, state: Mapping[str, Tensor]) -> None:
        raise KeyError("a hook of its own")


@pytest.mark.parametrize("kind", [Delegates, Reaches])
def test_a_part_is_filled_whether_the_hook_around_it_asks_it_or_reaches_into_it(kind: type[Outer]) -> None:
    module = kind(Part())
    with torch.no_grad():
        fill(module, STATE)
    assert torch.equal(module.part.one.weight, STATE["part.one.weight"])  # type: ignore[union-attr]
    assert torch.equal(module.part.one.bias, STATE["part.one.bias"])  # type: ignore[union-attr]
    assert torch.equal(module.own, torch.stack([STATE["scale"], STATE["shift"]]))
    assert [*dict(module.named_children())] == ["part"]


def test_a_hook_that_is_wrong_itself_fails_as_ever() -> None:
    with torch.no_grad(), pytest.raises(KeyError, match="scales"):
        fill(Fails(Part()), STATE)
    with torch.no_grad(), pytest.raises(AttributeError, match="fused"):
        fill(Reaches(nn.Linear(2, 3)), STATE)
    with torch.no_grad(), pytest.raises(KeyError, match="of its own"):
        fill(Derived(), STATE)


def test_without_strict_weights_are_loaded_as_far_as_names_and_shapes_fit() -> None:
    given = Given(7, {}, "cpu")
    shapes = {"weight": (3, 2), "bias": (3,), "gate": (4,)}
    with pytest.raises(StructureError, match="gate"):
        given.load(nn.Linear(2, 3), shapes)
    whole = Given(7, {}, "cpu").load(nn.Linear(2, 3), {"weight": (3, 2), "bias": (3,)})
    fitted = Given(7, {}, "cpu").load(nn.Linear(2, 3), shapes, strict=False)
    assert torch.equal(fitted.weight, whole.weight)
    assert torch.equal(fitted.bias, whole.bias)
    wide = Given(7, {}, "cpu").load(nn.Linear(5, 3), shapes, strict=False)
    assert torch.equal(wide.bias, whole.bias)


def test_a_part_under_no_name_of_the_contract_is_a_fault_of_structure() -> None:
    class Other(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.other = Part()

    with (
        torch.no_grad(),
        pytest.raises(StructureError, match=r"no parameter part.one.weight .* found other.one.weight"),
    ):
        fill(Other(), {name: tensor for name, tensor in STATE.items() if name.startswith("part.")})


class Fused(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fused = nn.Parameter(torch.zeros(2))

    def from_reference(self, state: Mapping[str, Tensor]) -> None:
        self.fused.copy_(torch.cat([state["one"], state["two"]]))


def blocks() -> dict[str, Tensor]:
    state = {f"blocks.{at}.inner.{name}": torch.ones(1) for at in range(2) for name in ("one", "two")}
    return state | {f"blocks.{at}.norm.weight": torch.ones(1, 1) for at in range(2)}


class Stack(nn.Module):
    def __init__(self, is_shared: bool = False) -> None:
        super().__init__()
        made = [nn.ModuleDict({"inner": Fused(), "norm": nn.Linear(1, 1)}) for _ in range(2)]
        self.blocks = nn.ModuleList(made[:1] * 2 if is_shared else made)


def test_a_missing_parameter_has_the_name_that_the_contract_gives_it_whatever_hook_is_further_in() -> None:
    with torch.no_grad(), pytest.raises(StructureError, match=r"^Stack has no parameter blocks.1.norm.gain \(1,\)"):
        fill(Stack(), {**blocks(), "blocks.1.norm.gain": torch.ones(1)})


@pytest.mark.parametrize(("kept", "registered"), [("blocks", True), ("others", False)])
def test_a_plain_list_of_modules_is_named_where_its_parameters_are_missing(kept: str, registered: bool) -> None:
    module = Outer(nn.Linear(1, 1))
    setattr(module, kept, [nn.Linear(1, 1)])
    with torch.no_grad(), pytest.raises(StructureError) as caught:
        fill(module, {"blocks.0.weight": torch.ones(1, 1), "own": torch.ones(2, 4)})
    says = "`blocks` is a plain list: `nn.ModuleList` registers the modules in it"
    refusals = [(refusal.sentence, refusal.lacks, refusal.name) for refusal in caught.value.refusals]
    assert ((says, "registration", "blocks") in refusals) == registered


def test_a_block_that_is_there_twice_shares_the_parameters_behind_its_hooks() -> None:
    with torch.no_grad(), pytest.raises(StructureError) as caught:
        fill(Stack(is_shared=True), blocks())
    shared = [name for name in blocks() if ".1." in name]
    assert [(refusal.lacks, refusal.name) for refusal in caught.value.refusals] == [
        ("parameter", one) for one in shared
    ]
    assert "blocks.1.inner.one is the same parameter as blocks.0.inner.one" in str(caught.value)


def test_a_parameter_under_two_names_of_the_contract_is_no_missing_one() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.key = self.query = nn.Linear(1, 1, bias=False)

    for size in (1, 2):  # another shape is less than that it is the same one
        state = {"query.weight": torch.ones(1, 1), "key.weight": torch.zeros(1, size)}
        with torch.no_grad(), pytest.raises(StructureError) as caught:
            fill(Tied(), state)
        said = "Tied: key.weight is the same parameter as query.weight, expected one of its own"
        assert str(caught.value) == said


def test_parameters_that_are_tied_are_found_under_either_name() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.extra = self.query = nn.Linear(1, 1)

    part = Tied()
    with torch.no_grad():
        fill(part, {"query.weight": torch.ones(1, 1), "query.bias": torch.ones(1)})
    assert (part.extra.weight.item(), part.extra.bias.item()) == (1, 1)


FUSED = """
import torch
from ex05_attention import scaled_dot_product_attention
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {d_model}")
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def from_reference(self, state):
        self.qkv.weight.copy_(torch.cat([state[f"w_{name}.weight"] for name in "qkv"]))
        self.w_o.weight.copy_(state["w_o.weight"])
        self.w_o.bias.copy_(state["w_o.bias"])

    def forward(self, query, key, value, mask=None):
        rows = self.qkv.weight.chunk(3)
        q, k, v = (
            (x @ row.T).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for x, row in zip((query, key, value), rows, strict=True)
        )
        mixed, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
        self.attention_weights = weights.detach()
        return self.w_o(mixed.transpose(1, 2).flatten(2))
"""

HOOK = """
    def from_reference(self, state):
        for name in {names}:
            attention = getattr(self, name)
            qkv = torch.cat([state[f"{{name}}.w_{{each}}.weight"] for each in "qkv"])
            attention.qkv.weight[: qkv.size(0)].copy_(qkv)
            attention.w_o.weight.copy_(state[f"{{name}}.w_o.weight"])
            attention.w_o.bias.copy_(state[f"{{name}}.w_o.bias"])
        for name, value in self.named_parameters():
            if name in state and not name.startswith({names}):
                value.copy_(state[name])
        {more}
"""
"""A hook that fills the attention of the file above from outside, as one writes it who has just one hook."""

OWN_NORMS = (
    "self.norms.copy_(torch.stack([state[f'layer_norm_{i}.{name}'] for i in (1, 2) for name in ('alpha', 'bias')]))"
)


def with_hook(text: str, names: tuple[str, ...]) -> str:
    first = next(line for line in text.splitlines() if line.startswith("class ") and "Block" in line)
    hook = HOOK.format(names=names, more="pass")
    return "import torch\n" + text.replace(first, f"{first}\n{hook}", 1)


def with_own_norms(text: str) -> str:
    """Return the encoder's file with both norms of a block in one parameter, which only its hook can fill."""
    text = with_hook(text, ("attention",)).replace("        pass\n", f"        {OWN_NORMS}\n", 1)
    text = text.replace("        self.layer_norm_1 = LayerNormalization(d_model)\n", "", 1)
    text = text.replace(
        "        self.layer_norm_2 = LayerNormalization(d_model)\n",
        "        self.norms = nn.Parameter(torch.ones(4, d_model))\n"
        "        self.normal = LayerNormalization(d_model).requires_grad_(False)\n",
        1,
    )
    for i in (1, 2):
        text = text.replace(f"self.layer_norm_{i}(", f"self.normalized({i - 1}, ", 1)
    method = (
        "    def normalized(self, i, x):\n        return self.normal(x) * self.norms[2 * i] + self.norms[2 * i + 1]\n\n"
    )
    return text.replace("    def forward(", f"{method}    def forward(", 1)


@pytest.fixture(scope="module")
def suite() -> Suite:
    course = read_course(tiny.REPOSITORY)
    return load_suite(course, [course.exercise(name) for name in LATER])


@pytest.fixture(scope="module")
def runner(suite: Suite) -> Any:
    with Runner(suite, seed=3, shared=True) as made:
        yield made


@pytest.fixture(scope="module")
def keys(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> dict[str, AnswerKey]:
    with Keys(suite, seed=3, cache=tmp_path_factory.mktemp("keys")) as keys:
        return {exercise.id: keys.reference(exercise) for exercise in suite.exercises}


def failures(
    suite: Suite, runner: Runner, keys: Mapping[str, AnswerKey], sources: Mapping[str, bytes], parts: tuple[str, ...]
) -> list[str]:
    """Return the checks of both later exercises that fail, and why."""
    wanted = {name: suite.reference_parts[name] for name in parts}
    run = runner.run(sources, suite.plan(suite.exercises), reference_parts=wanted)
    found = []
    for exercise in suite.exercises:
        verdicts = Verdicts(suite, exercise, lambda _, id_=exercise.id: keys[id_], seed=3, evidence=False)
        result = result_of(
            verdicts.judge(run.outcomes[exercise.id], run.surveys.get(exercise.id, NO_SURVEY), sources[exercise.file])
        )
        found += [f"{exercise.id} {check.id}: {check.finding}" for check in result.checks if check.status != "pass"]
    return found


def reaching() -> dict[str, bytes]:
    encoder, decoder = ((SOLUTIONS / f"{name}.py").read_text("utf-8") for name in LATER)
    return {
        **_files(SOLUTIONS),
        ATTENTION: FUSED.encode(),
        "ex08_encoder.py": with_own_norms(encoder).encode(),
        "ex09_decoder.py": with_hook(decoder, ("self_attention", "cross_attention")).encode(),
    }


def _files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.glob("ex*.py"))}


@pytest.mark.parametrize("parts", [(), (ATTENTION,)])
def test_later_files_that_reach_into_a_fused_attention_keep_their_points_without_it(
    suite: Suite, runner: Runner, keys: Mapping[str, AnswerKey], parts: tuple[str, ...]
) -> None:
    assert failures(suite, runner, keys, reaching(), parts) == []


@pytest.mark.parametrize("style", ["fused_style", "einsum_style", "plain_style"])
def test_every_style_of_program_keeps_its_points_on_the_parts_of_others(
    suite: Suite, runner: Runner, keys: Mapping[str, AnswerKey], style: str
) -> None:
    sources = _files(SOLUTIONS / "accepted" / "whole" / style)
    needed = [name for name in suite.reference_parts if name < "ex08"]
    for parts in ((ATTENTION,), ("ex03_layer_norm.py", ATTENTION), tuple(needed)):
        assert failures(suite, runner, keys, sources, parts) == []
