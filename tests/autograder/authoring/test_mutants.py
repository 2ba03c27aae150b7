"""The mutants of a program: which changes are made, and how their text stays close to the solution's."""

import ast
from collections.abc import Callable

import pytest

from autograder.authoring.mutants import Mutant, changed_lines, mutants_of, patch_of
from autograder.course import read_course
from tests.support import tiny

SOURCE = '''import torch
from contextlib import contextmanager


def last(ids, mask, size=3):
    """Return the last ones."""
    ids = ids[:, -size:]  # the last ones
    if mask is not None and len(ids) < size:
        return ids.sum(dim=-1, keepdim=True).detach()
    turned = ids.transpose(1, 2)
    ids = ids + turned.masked_fill(mask, 0.0)
    return zeros(size, device=ids.device, dtype=torch.float64)


@contextmanager
def opened(path):
    try:
        copied = path[:]
        for name in [word for word in copied if word]:
            if 0 < len(name) <= 3 or not name:
                break
        yield min(copied, name), (copied, -1.5)
    finally:
        path.close()
'''


@pytest.fixture(scope="module")
def mutants() -> list[Mutant]:
    return mutants_of(SOURCE, "07")


@pytest.mark.parametrize(
    ("operator", "becomes"),
    [
        ("boolean", "if mask is not None or len(ids) < size:"),
        ("boolean", "if 0 < len(name) <= 3 or name:"),
        ("comparison", "if mask is not None and len(ids) <= size:"),
        ("comparison", "if mask is None and len(ids) < size:"),
        ("comparison", "if 0 < len(name) < 3 or not name:"),
        ("condition", "if True:"),
        ("condition", "for name in [word for word in copied]:"),
        ("loop", "for name in reversed(list([word for word in copied if word])):"),
        ("loop", "continue"),
        ("axis", "return ids.sum(dim=-2, keepdim=True).detach()"),
        ("axis", "turned = ids.transpose(1, 3)"),
        ("transpose", "turned = ids"),
        ("transpose", "turned = ids.reshape(ids.transpose(1, 2).shape)"),
        ("argument dropped", "return ids.sum(dim=-1).detach()"),
        ("swapped", "turned = ids.transpose(2, 1)"),
        ("swapped", "yield (min(copied, name), (-1.5, copied))"),
        ("sign", "yield (min(copied, name), (copied, 1.5))"),
        ("sign", "ids = ids - turned.masked_fill(mask, 0.0)"),
        ("another name", "yield (max(copied, name), (copied, -1.5))"),
        ("mask", "ids = ids + turned.masked_fill(~mask, 0.0)"),
        ("in place", "ids = ids + turned.masked_fill_(mask, 0.0)"),
        ("in place", "ids = ids.add_(turned.masked_fill(mask, 0.0))"),
        ("in place", "ids += turned.masked_fill(mask, 0.0)"),
        ("gradient", "turned = ids.transpose(1, 2).detach()"),
        ("call dropped", "return ids.sum(dim=-1, keepdim=True)"),
        ("call dropped", "copied = path"),
        ("call dropped", "def opened(path):"),
        ("device", "return zeros(size, dtype=torch.float64)"),
        ("device", "return zeros(size, device=ids.device, dtype=torch.float64).cpu()"),
        ("dtype", "return zeros(size, device=ids.device)"),
        ("dtype", "return zeros(size, device=ids.device, dtype=torch.float32)"),
        ("dtype", "return zeros(size, device=ids.device, dtype=torch.float64).float()"),
        ("slice", "ids = ids[:, :]"),
        ("off by one", "def last(ids, mask, size=4):"),
        ("block dropped", "its body alone"),
        ("statement dropped", ""),
    ],
)
def test_an_operator_makes_a_change(mutants: list[Mutant], operator: str, becomes: str) -> None:
    assert operator in {mutant.operator for mutant in mutants if mutant.becomes == becomes}


def test_an_optional_argument_is_ignored_where_another_is_given() -> None:
    source = """def chosen(scores, mask=None, *, rate=0.5, unused=None):
    \"\"\"Return what is chosen.\"\"\"
    kept = scores if mask is None else scores * mask
    return kept * rate
"""
    found = [mutant for mutant in mutants_of(source, "07") if mutant.operator == "argument ignored"]
    calls = []
    for mutant in found:
        names: dict[str, Callable[..., float]] = {}
        exec(mutant.source, names)
        chosen = names["chosen"]
        calls.append((chosen(2, 3), chosen(2, rate=0.25), chosen(2, 3, rate=0.25)))
    assert calls == [(3.0, 0.5, 0.5), (3.0, 0.5, 3.0)]  # right is (3.0, 0.5, 1.5)
    assert [mutant.line for mutant in found] == [3, 3]


def test_no_two_mutants_are_alike_and_each_is_python(mutants: list[Mutant]) -> None:
    programs = {ast.dump(ast.parse(mutant.source)) for mutant in mutants}
    assert ast.dump(ast.parse(SOURCE)) not in programs
    assert len(programs) == len({mutant.id for mutant in mutants}) == len(mutants) > 100


def test_a_mutant_keeps_comments_docstrings_and_lines(mutants: list[Mutant]) -> None:
    [other] = [mutant for mutant in mutants if mutant.becomes == "ids = ids[:, size:]"]
    assert other.source == SOURCE.replace("-size:]", "size:]")
    assert (other.line, other.where) == (7, "last")
    assert patch_of(SOURCE, other.source) == (
        "    ids = ids[:, -size:]  # the last ones",
        "    ids = ids[:, size:]  # the last ones",
    )


def test_the_patch_of_every_mutant_of_a_solution_makes_its_program() -> None:
    course = read_course(tiny.REPOSITORY)
    for file in [course.solutions_dir / course.exercises[0].file, tiny.ROOT / "solutions" / tiny.FILES[1]]:
        solution = file.read_text("utf-8")
        for mutant in mutants_of(solution, "01"):
            find, replace = patch_of(solution, mutant.source)
            assert solution.count(find) == 1
            assert solution.replace(find, replace) == mutant.source


def test_a_patch_of_a_repeated_line_grows_until_it_is_unique() -> None:
    source = "def f(x):\n    x = x + 1\n    x = x + 1\n    return x\n"
    texts = [(mutant.nth, patch_of(source, mutant.source)) for mutant in mutants_of(source, "01") if not mutant.becomes]
    assert texts[:2] == [
        (1, ("def f(x):\n    x = x + 1", "def f(x):\n    pass")),
        (2, ("    x = x + 1\n    x = x + 1", "    x = x + 1\n    pass")),
    ]


def test_operators_of_a_library_are_used_where_it_is_imported() -> None:
    plain = {mutant.becomes for mutant in mutants_of("def f(x):\n    y = x + 1\n    return zeros(y)\n", "01")}
    assert "y = x - 1" in plain
    assert not [text for text in plain if "detach" in text or "cpu" in text or "add_" in text]


def test_an_id_stays_when_other_lines_change(mutants: list[Mutant]) -> None:
    moved = mutants_of(SOURCE.replace("import torch", "import torch\n\n# more"), "07")
    assert [mutant.id for mutant in moved] == [mutant.id for mutant in mutants]
    assert all(mutant.id.startswith("07-") for mutant in moved)


def test_statements_change_places_where_their_order_matters() -> None:
    source = """
def step(model, batch, optimizer):
    count = len(batch)
    scores = model(batch)  # (B, V)
    optimizer.zero_grad()
    loss = scores.mean()
    loss = loss * 2  # twice
    return loss, count
"""
    swapped = [mutant for mutant in mutants_of(source, "01") if mutant.operator == "order"]
    assert [(mutant.was, mutant.becomes) for mutant in swapped] == [
        ("scores = model(batch)", "after: optimizer.zero_grad()"),
        ("optimizer.zero_grad()", "after: loss = scores.mean()"),
        ("loss = scores.mean()", "after: loss = loss * 2"),
        ("loss = loss * 2", "after: return (loss, count)"),
    ]
    assert patch_of(source, swapped[0].source) == (
        "    scores = model(batch)  # (B, V)\n    optimizer.zero_grad()",
        "    optimizer.zero_grad()  # (B, V)\n    scores = model(batch)",
    )


def test_arguments_that_may_stand_in_any_order_are_not_swapped() -> None:
    source = "def f(a, b):\n    return max(a, b) + abs(a - b) + pow(a, b)\n"
    assert [mutant.becomes for mutant in mutants_of(source, "01") if mutant.operator == "swapped"] == [
        "return max(a, b) + abs(a - b) + pow(b, a)"
    ]


def test_a_default_belongs_to_its_function() -> None:
    found = mutants_of("class A:\n    def f(self, size=3):\n        return size\n", "01")
    assert ("A.f", "def f(self, size=4):") in {(mutant.where, mutant.becomes) for mutant in found}


def test_only_what_students_write_is_changed() -> None:
    source = """
LIMIT = 3


def given(x):
    return x + 1


def written(x, size=3):
    # TODO ex01: three times x
    ### BEGIN SOLUTION
    return 3 * x
    ### END SOLUTION
"""
    assert {mutant.line for mutant in mutants_of(source, "01")} == {12}


def test_only_changed_lines_are_shown_also_where_they_occur_twice() -> None:
    line = "queries = torch.arange(n, device=device).unsqueeze({})"
    solution = "def f(n):\n    if n < 1:\n        raise ValueError(n)\n    {0}\n\n\ndef g(n):\n    if n:\n        {0}\n"
    right = solution.format(line.format(1))
    wrong = right.replace(line.format(1), line.format(-1), 1)
    assert changed_lines(right, wrong) == ([line.format(1)], [line.format(-1)])
    find, _ = patch_of(right, wrong)
    assert "raise ValueError(n)" in find, "a misconception needs a text that occurs once"


def test_changed_lines_of_several_depths_keep_their_form() -> None:
    right = "def f(n):\n    if n:\n        a(n)\n    b(n)\n"
    assert changed_lines(right, "def f(n):\n    b(n)\n") == (["if n:", "    a(n)"], [])
    assert changed_lines(right, "def f(n):\n    if n:\n        a(0)\n    b(0)\n") == (
        ["    a(n)", "b(n)"],
        ["    a(0)", "b(0)"],
    )
