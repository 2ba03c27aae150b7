"""Values without a gradient: a mutant that detaches one is equivalent, whatever the checks observe."""

import pytest

from autograder.authoring.witness import detaches_nothing

TEMPLATE = """import torch

def given(x, model, mask=None):
    allowed = x > 0
    allowed = allowed & mask.bool()
    table = torch.zeros(3, 4).unsqueeze(0)
    scores = x * 2
    for step in range(3):
        changed = step
    {}
    return scores
"""


@pytest.mark.parametrize(
    "statement",
    [
        "y = (x == 3).detach()",
        "y = allowed.detach()",
        "y = (~allowed).unsqueeze(1).detach()",
        "y = scores.argmax(dim=-1).detach()",
        "y = table.detach()",
        "return torch.cat([table, torch.ones(2)]).detach()",
        "y = (allowed | mask).detach()",
    ],
)
def test_a_mask_ids_and_new_tensors_have_none(statement: str) -> None:
    assert detaches_nothing(TEMPLATE.format(statement), 10)


@pytest.mark.parametrize(
    "statement",
    [
        "y = x.detach()",
        "y = scores.detach()",
        "y = (table + x).detach()",
        "y = torch.ones(2, requires_grad=True).detach()",
        "y = torch.softmax(x, -1).detach()",
        "y = model(x).detach()",
        "y = changed.detach()",
        "y = other(table).detach()",
        "y = allowed",
    ],
)
def test_anything_else_may_have_one(statement: str) -> None:
    assert not detaches_nothing(TEMPLATE.format(statement), 10)


@pytest.mark.parametrize(
    ("value", "has_none"), [("(x + 1)", True), ("torch.exp(x)", True), ("x", False), ("f(x)", False)]
)
def test_what_is_computed_without_a_graph_has_none(value: str, has_none: bool) -> None:
    decorated = f"import torch\n\n@torch.no_grad()\ndef step(x, f):\n    return {value}.detach()\n"
    block = f"import torch\n\ndef step(x, f):\n    with torch.no_grad():\n        return {value}.detach()\n"
    assert detaches_nothing(decorated, 5) == detaches_nothing(block, 5) == has_none
    assert not detaches_nothing(f"{block}\n# torch.enable_grad\n", 5)
