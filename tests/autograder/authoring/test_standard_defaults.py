"""Default misconceptions: which wrong programs are made for standard checks, and that each is caught."""

from pathlib import Path

import pytest

from autograder.authoring import naming as standard
from autograder.authoring.mutants import Mutant, mutants_of
from autograder.authoring.naming import EXAMPLES, OPERATORS, TEXTS, add_defaults, standard_variants
from autograder.checks import HINTS
from autograder.cli.program import run_command
from autograder.ending import FAIL, PASS
from tests.support import tiny

SOURCE = """import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.parts = nn.ModuleList([nn.Linear(width, width)])
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        turned = x.transpose(-2, -1).mT
        mean = turned.mean(dim=-1) + turned[..., 0]
        mean = nn.functional.dropout(mean, 0.1, training=self.training)
        return self.dropout(mean)
"""

CHECKS = """

from autograder.checks import standard_checks


def mean_and_input(impl, given, dtype):
    return impl.running_mean, {"x": given.normal(*given.sizes("N B T"), dtype=dtype)}


MEAN = standard_checks(of="running_mean", make=mean_and_input)
test_inputs_kept = MEAN.inputs_kept(requires_any=("values",))
test_device = MEAN.device(requires_any=("values",))
test_gradients = MEAN.gradients(id="slopes")
test_leading_axes = MEAN.leading_axes()
"""


@pytest.fixture(scope="module")
def made() -> list[Mutant]:
    return mutants_of(SOURCE, "01", standard_variants)


@pytest.mark.parametrize(
    ("operator", "becomes"),
    [
        ("in place", "return x.copy_(self.dropout(mean))"),
        ("fixed axes", "turned = x.transpose(1, 2).mT"),
        ("fixed axes", "turned = x.transpose(-2, -1).transpose(1, 2)"),
        ("fixed axes", "mean = turned.mean(dim=2) + turned[..., 0]"),
        ("fixed axes", "mean = turned.mean(dim=-1) + turned[:, :, 0]"),
        ("mode ignored", "mean = nn.functional.dropout(mean, 0.1, training=True)"),
        ("mode ignored", "return self.dropout.train()(mean)"),
        ("not trained", "self.weight = torch.ones(width)"),
        ("not trained", "self.parts = [nn.Linear(width, width)]"),
        ("gradient", "return self.dropout(mean).detach()"),
        ("device", "return self.dropout(mean).cpu()"),
        ("dtype", "return self.dropout(mean).float()"),
    ],
)
def test_each_kind_of_standard_check_has_programs_that_learners_write(
    made: list[Mutant], operator: str, becomes: str
) -> None:
    assert (operator, becomes) in {(mutant.operator, mutant.becomes) for mutant in made}


def test_every_standard_check_has_an_operator_with_texts(made: list[Mutant]) -> None:
    assert OPERATORS.keys() == HINTS.keys()
    assert {mutant.operator for mutant in made} - {"order"} == set(OPERATORS.values())
    assert set(OPERATORS.values()) <= TEXTS.keys()


@pytest.mark.worker
def test_a_check_without_a_misconception_gets_one_that_it_catches(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checks = course / f"tests/exercises/test_{tiny.FIRST}.py"
    checks.write_text(checks.read_text("utf-8") + CHECKS, "utf-8")
    file = course / f"solutions/misconceptions/{tiny.FIRST}.toml"
    file.write_text("")
    suite = tiny.suite_at(course)
    exercise = suite.course.exercise(tiny.FIRST)
    found = add_defaults(suite, exercise)
    assert (list(found.entries), found.without) == (["inputs_kept", "device", "slopes", "leading_axes"], ())
    assert file.read_text("utf-8").strip() == "".join(found.entries.values()).strip()
    assert "[running-mean-slopes]" in found.entries["slopes"]
    assert f'hint = "{HINTS["device"][0]}"' in found.entries["device"]
    assert "torch.arange(1, x.size(2) + 1, device=x.device)" in found.entries["leading_axes"]
    monkeypatch.chdir(course)
    assert run_command(["mutate", "1", "--standard"]) == PASS
    assert "every standard check is failed by a misconception" in capsys.readouterr().out
    file.write_text("")
    monkeypatch.setattr(standard, "mutants_of", lambda *_: [])
    assert run_command(["mutate", "1", "--standard"]) == FAIL
    said = capsys.readouterr().out
    tried = "no default misconception fails slopes. 0 programs tried in which the graph of autograd is cut"
    assert f"{tiny.FIRST}: {tried}. Write a cut graph: `x.detach()`" in said
    assert "fails inputs_kept. 0 programs tried in which a tensor is changed in place. Write an in-place" in said


def test_every_kind_of_standard_check_has_an_example_of_what_to_write() -> None:
    assert set(EXAMPLES) == set(OPERATORS)


@pytest.mark.worker
@pytest.mark.parametrize(
    ("kind", "wrong", "is_accepted"),
    [
        ("inputs_kept", "x += 1", True),
        ("inputs_kept", "x.size(-1).sub_(1)", False),
        ("gradients", "x.nothing", False),
        ("leading_axes", "x = x[..., : x.size(2)]", True),
        ("device", "x.nothing", False),
        ("leading_axes", "x.nothing", False),
    ],
)
def test_a_default_never_only_crashes(
    course: Path, monkeypatch: pytest.MonkeyPatch, kind: str, wrong: str, is_accepted: bool
) -> None:
    checks = course / f"tests/exercises/test_{tiny.FIRST}.py"
    kept = "requires_any=('values',)" if kind == "inputs_kept" else ""
    declared = CHECKS.split("test_inputs_kept")[0] + f"test_{kind} = MEAN.{kind}({kept})\n"
    checks.write_text(checks.read_text("utf-8") + declared, "utf-8")
    (course / f"solutions/misconceptions/{tiny.FIRST}.toml").write_text("")
    first = tiny.MEAN.index("    count = ")
    source = f"{tiny.MEAN[:first]}    {wrong}\n{tiny.MEAN[first:]}"
    mutant = Mutant("01-000000", OPERATORS[kind], "running_mean", 1, "", wrong, 1, source)
    monkeypatch.setattr(standard, "mutants_of", lambda *_: [mutant])
    suite = tiny.suite_at(course)
    found = add_defaults(suite, suite.course.exercise(tiny.FIRST))
    assert bool(found.entries) == is_accepted
