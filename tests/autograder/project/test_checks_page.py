"""Every example of docs/checks.md runs: the solution passes its checks, and a wrong program fails each of them."""

import ast
import re
import tomllib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from autograder.answer_key import patched, read_catalogue
from autograder.answer_key.catalogue import KEYS
from autograder.checks import Check, Implementation, checks_in
from autograder.comparison import Expected, judge_observation
from autograder.protocol import SYNTAX
from autograder.worker import support
from autograder.worker.session import observe
from tests.support import tiny

PAGE = (tiny.REPOSITORY / "docs" / "checks.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
TABLES = [tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)]

WRONG: dict[str, tuple[str, str]] = {
    "ordered": ("sorted(values)", "sorted(values, reverse=True)"),
    "mean": ("/ len(values)", "/ (len(values) + 1)"),
    "empty": ("not values", "values is None"),
    "nothing": ('raise ValueError("the mean of 0 numbers is not defined")', "return 0.0"),
    "kept": ("sorted(values)", "sorted(values)[:-1]"),
    "untouched": ("sorted(values)", "values.sort() or list(values)"),
    "shifted": ("x - x.max(axis=-1, keepdims=True)", "0.1 * x * x.max()"),
    "dropped": ("nn.Dropout(0.4)", "nn.Dropout(0.1)"),
    "estimates": ("4 * inside", "3 * inside"),
    "printed": ("print(i, line)", "print(line)"),
    "lines": ("line.strip()", "line"),
    "calls": ("range(times)", "range(times - 1)"),
    "fields": ("len(set(words))", "len(words)"),
    "people": ('int(row["people"])', "1"),
}
"""What makes the solution wrong for each check of the page."""


def examples() -> dict[str, tuple[Check, str]]:
    """Return the checks of the page, each with the solution above it."""
    found: dict[str, tuple[Check, str]] = {}
    solution = ""
    for block in BLOCKS:
        if block.startswith("# solution"):
            solution = block
            continue
        module = ModuleType("test_example")
        exec(block, module.__dict__)
        found |= {check.id: (check, solution) for check in checks_in(module)}
    return found


EXAMPLES = examples()


def observed(check: Check, solution: str) -> Any:
    """Return what a check observes of a program."""
    head = solution.splitlines()[0]
    support.load_support([head.partition("with ")[2]] if "with" in head else [])
    module = ModuleType("ex01_example")
    exec(solution, module.__dict__)
    own = support.loaded()
    own.reset(3, "cpu")
    return observe(check.probe(Implementation(module), own.given(3, {}, "cpu", exact=False, traced=False)))


@pytest.fixture(autouse=True)
def _own_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "_loaded", support.PlainSupport())


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_solution_passes_and_a_wrong_program_fails(name: str) -> None:
    check, solution = EXAMPLES[name]
    right = observed(check, solution)
    old, new = WRONG[name]
    assert solution.count(old) == 1
    wrong = observed(check, solution.replace(old, new))
    assert judge_observation(right, Expected(right, right), check.judge) is None
    assert judge_observation(wrong, Expected(right, right), check.judge) is not None


def test_every_judge_has_an_example() -> None:
    kinds = {type(check.judge).__name__ for check, _ in EXAMPLES.values()}
    assert kinds == {"Same", "SameInputs", "Raises", "function", "Like", "Dropout", "Within"}


def test_the_page_lists_every_key_of_a_misconception() -> None:
    rows = PAGE[PAGE.index("## Misconceptions") : PAGE.index("## Reference parts")].splitlines()
    listed = " ".join(row.split("|")[1] for row in rows if row.startswith("| `"))
    assert sorted(re.findall(r"`(\w+)`", listed)) == sorted(KEYS)


def test_the_misconceptions_of_the_page_are_patches_of_its_solution(tmp_path: Any) -> None:
    [text] = [block for block in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL) if "patches" in block]
    (tmp_path / "ex01.toml").write_text(text, "utf-8")
    solution = BLOCKS[0]
    entries = read_catalogue(tmp_path / "ex01.toml", solution)
    programs = {entry.id: _sort_of(patched(solution, entry)) for entry in entries}
    assert programs["sort-loses-equal"]([2, 1, 2]) == [1, 2]
    assert programs["sort-both"]([2, 1, 3]) == [3, 2, 1]


def _sort_of(program: str) -> Callable[[list[int]], list[int]]:
    names: dict[str, Any] = {}
    exec(program, names)
    return names["sort"]  # type: ignore[no-any-return]


def test_the_page_lists_every_kind_of_syntax_and_every_input() -> None:
    listed = PAGE[PAGE.index("Kinds of syntax:") : PAGE.index("- A message names the entry")]
    assert re.findall(r"`([\w-]+)`", listed) == list(SYNTAX)
    for module in ("plain_given", "array_given", "given"):
        tree = ast.parse((tiny.REPOSITORY / "autograder" / "checks" / f"{module}.py").read_text("utf-8"))
        methods = [
            node.name
            for owner in tree.body
            if isinstance(owner, ast.ClassDef) and owner.name.endswith("Given")
            for node in owner.body
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        ]
        for name in set(methods) - {"into", "out_of", "instead"}:  # those of a worked example are in authoring.md
            assert f"`given.{name}(" in PAGE, name
