"""Edits that change an order: of brackets, calls, names and statements."""

import ast

import pytest

from autograder.edits import repairs

LOOP = """
def train(model, first, second):
    total = 0
    for batch in first:
        total = 0
        loss = model(batch, second)
        total += loss
    done = model.step(first)
    model.eval()
    kept, left = second, first
    size = len(first) * 2
    rate = (first + second).mean()
    return total, done
"""


@pytest.fixture(scope="module")
def programs() -> set[str]:
    found = set()
    for edit in repairs(LOOP, [], 100_000):
        try:
            found.add(ast.unparse(ast.parse(edit.applied(LOOP))))
        except SyntaxError:
            continue
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    done = model.step(first)\n", "        done = model.step(first)\n"),  # into a loop
        (
            "        loss = model(batch, second)\n        total += loss\n",
            "        total += loss\n        loss = model(batch, second)\n",
        ),
        ("model(batch, second)", "model(second, batch)"),  # two names
        ("total += loss", "total = loss"),  # a sum that goes on
        ("kept, left =", "left, kept ="),  # the names of a tuple
        ("len(first) * 2", "len(first * 2)"),  # a call around more
        ("(first + second).mean()", "first + second.mean()"),  # a call around less
    ],
)
def test_an_order_is_changed_back(old: str, new: str, programs: set[str]) -> None:
    assert LOOP.count(old) == 1
    assert ast.unparse(ast.parse(LOOP.replace(old, new))) in programs


def test_a_statement_is_moved_to_the_end_of_its_block_and_out_of_its_loop(programs: set[str]) -> None:
    without = LOOP.replace("    model.eval()\n", "")
    moved = without.replace("    for batch", "    model.eval()\n    for batch")
    assert ast.unparse(ast.parse(moved)) in programs
    out = LOOP.replace("        total += loss\n", "").replace("    done =", "    total += loss\n    done =")
    assert ast.unparse(ast.parse(out)) in programs


def test_no_edit_exchanges_two_parameters_in_a_whole_function(programs: set[str]) -> None:
    head, _, body = LOOP.partition(":\n")
    swapped = body.replace("first", "third").replace("second", "first").replace("third", "second")
    assert ast.unparse(ast.parse(f"{head}:\n{swapped}")) not in programs, "it would prove no line"


def test_a_statement_that_is_the_only_one_of_a_block_leaves_a_pass() -> None:
    source = "def f(x):\n    for y in x:\n        x.append(y)\n    return x\n"
    wanted = "def f(x):\n    x.append(y)\n    for y in x:\n        pass\n    return x\n"
    assert wanted in {edit.applied(source) for edit in repairs(source, [], 10_000)}


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("x.sum(dim=0)", "x.sum(dim=-1, keepdim=True)"),
        ("x.max()", "x.amax(dim=-1, keepdim=True)"),
        ("torch.std(x, 0, unbiased=False)", "torch.std(x, unbiased=False, dim=-1, keepdim=True)"),
    ],
)
def test_a_reduction_gets_its_axis_and_keeps_it_in_one_edit(wrong: str, right: str) -> None:
    source = "import torch\n\n\ndef f(x):\n    return x / {}\n"
    wanted = ast.dump(ast.parse(source.format(right)))
    programs = [edit.applied(source.format(wrong)) for edit in repairs(source.format(wrong), [5], 10_000)]
    assert wanted in {ast.dump(ast.parse(program)) for program in programs}
