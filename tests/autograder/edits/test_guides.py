"""Edits like the fix of a known mistake are tried first."""

import pytest

from autograder.edits import Clues, fix_of, repairs
from autograder.edits.search import JUST, LIKE, ORDER, SAME, Guides, variables, writes_less

RIGHT = "def f(scores, mask):\n    weights = scores.softmax(dim=-1)\n    return weights * mask\n"
WRONG = RIGHT.replace("dim=-1", "dim=1")
THEIRS = "def g(s, mask):\n    p = torch.softmax(s, 1)\n    q = p * mask\n    return q\n"


def test_a_fix_is_hashes_and_has_no_word_of_the_program() -> None:
    fix = fix_of(WRONG, RIGHT)
    assert fix
    assert not set(fix.replace("+", " ").replace("-", " ").split()) & {"dim", "1", "softmax", "scores"}


def test_a_fix_of_names_of_variables_or_of_the_order_is_one_of_order() -> None:
    assert fix_of(RIGHT.replace("weights", "other"), RIGHT) == ORDER
    assert fix_of(RIGHT.replace("weights * mask", "mask * weights"), RIGHT) == ORDER
    assert Guides([ORDER], is_named=True).gain("a(x)\nb(y)", "b(y)\na(x)") == LIKE


def test_an_edit_of_the_order_gains_little_beside_another_fix() -> None:
    guides = Guides([ORDER, fix_of(WRONG, RIGHT)], is_named=True)
    assert guides.gain("a(x)\nb(y)", "b(y)\na(x)") == SAME


def test_a_fix_that_rewrites_much_is_not_kept() -> None:
    many = "def f(scores, mask):\n    return " + " + ".join(f"a{i}(scores)" for i in range(30)) + "\n"
    assert fix_of(many, RIGHT) == ""


def test_the_fix_of_the_named_mistake_gains_most() -> None:
    fix, other = fix_of(WRONG, RIGHT), fix_of(RIGHT.replace("* mask", "/ mask"), RIGHT)
    named = Guides([fix], is_named=True)
    assert named.gain("s.softmax(1)", "s.softmax(-1)") == LIKE + JUST
    assert 0 < named.gain("s.softmax(1)", "s.softmax(-1).detach()") < LIKE
    assert named.gain("p / mask", "p * mask") == 0
    known = Guides([fix, other], is_named=False)
    assert known.gain("p / mask", "p * mask") == SAME
    assert known.gain("p / mask", "p + mask") == 0
    assert Guides([], is_named=True).gain("a", "b") == 0


def test_names_of_the_programs_own_variables_do_not_count() -> None:
    fix = fix_of(WRONG, RIGHT)
    assert Guides([fix], is_named=True, variables=["p"]).gain("p.softmax(1)", "p.softmax(-1)") == LIKE + JUST


def test_a_parameter_that_is_assigned_too_keeps_the_name_of_the_contract() -> None:
    right = "def f(x, pad_idx=None):\n    pad_idx = pad_idx or 0\n    y = x\n    return y == pad_idx\n"
    assert variables([right]) == {"y"}
    assert Guides([fix_of(right.replace("y == pad_idx", "y == 0"), right)], is_named=True).gain("0", "pad_idx") > LIKE


def test_a_number_is_one_word_however_it_is_written() -> None:
    right = "def f(x):\n    return x.norm(x)\n"
    fix = fix_of(right.replace("norm(x)", "norm(x, p=1.0)"), right)
    assert Guides([fix], is_named=True).gain("norm(x, p=1)", "norm(x)") == LIKE + JUST


@pytest.mark.parametrize("is_named", [True, False])
def test_an_edit_like_a_known_fix_comes_before_others_of_its_line(is_named: bool) -> None:
    line = 2

    def position(fixes: list[str]) -> int:
        edits = repairs(THEIRS, [line], 100_000, Clues(tuple(fixes), is_named))
        return next(i for i, edit in enumerate(edits) if "softmax(s, -1)" in edit.applied(THEIRS))

    assert position([fix_of(WRONG, RIGHT)]) <= position([])
    assert position([fix_of(WRONG, RIGHT)]) < 5


@pytest.mark.parametrize(
    ("before", "after", "is_less"),
    [
        ("ids", "list(ids)", True),
        ("x", "x.clone()", True),
        ("x.sub_(mean)", "x.sub(mean)", True),
        ("x -= mean", "x = x - mean", True),
        ("row.append(0)", "pass", True),
        ("x[0] = 1", "pass", True),
        ("list(ids)", "ids", False),
        ("x == mean", "x != mean", False),
        ("x + y", "x - y", False),
    ],
)
def test_an_edit_that_copies_or_writes_into_fewer_values_writes_less(before: str, after: str, is_less: bool) -> None:
    assert writes_less(before, after) == is_less


def test_where_inputs_are_written_into_copies_are_tried_first() -> None:
    source = "def f(ids, n):\n    row = ids\n    while len(row) < n + 1:\n        row.append(0)\n    return row\n"
    texts, plain = ([edit.text for edit in repairs(source, [5], 200, Clues(writes=one))] for one in (True, False))
    assert texts.index("list(ids)") < plain.index("list(ids)")
