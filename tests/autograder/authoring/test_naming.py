"""A student's wrong program as a patch of the solution: patched, the solution is that program."""

import ast
import tomllib
from typing import Any

import pytest

from autograder.answer_key import patched, read_catalogue
from autograder.answer_key.catalogue import TEXTS as LENGTHS
from autograder.authoring import entry_of, patches_of
from autograder.authoring.naming import TEXTS
from autograder.course import Exercise, UsageError, read_course
from tests.support import tiny

COURSE = read_course(tiny.REPOSITORY)
EVERY = 12
"""Of the whole catalogue so many are passed over for each that is tried."""

SOLUTION = '''"""A part."""
import math


def helper(x):
    """Help."""
    return x + 1


class Part:
    """A part."""

    def __init__(self, size: int) -> None:
        self.size = size
        ### BEGIN SOLUTION
        self.scale = math.sqrt(size)

    def forward(self, x: float) -> float:
        """Go."""
        ### BEGIN SOLUTION
        y = helper(x)
        z = y / self.scale
        ### END SOLUTION
        return z
'''


def applied(solution: str, patches: tuple[tuple[str, str], ...]) -> str:
    for find, replace in patches:
        assert solution.count(find) == 1, find
        solution = solution.replace(find, replace)
    return solution


def plain(source: str, names: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the definitions of a program by name, without its docstrings, comments and types."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.body = [
                statement for statement in node.body if ast.get_docstring(node) is None or statement is not node.body[0]
            ]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    found = {node.name: ast.dump(node) for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return {name: found[name] for name in names or found}


def test_what_is_patched_is_as_little_as_makes_the_program() -> None:
    wrong = SOLUTION.replace("z = y / self.scale", "z = y * self.scale  # ada: was that it?")
    assert patches_of(SOLUTION, wrong, ["Part.forward"]) == (
        ("        z = y / self.scale", "        z = y * self.scale"),
    )
    left_out = SOLUTION.replace("        z = y / self.scale\n", "").replace("return z", "return y")
    [(find, replace)] = patches_of(SOLUTION, left_out, ["Part"])
    assert find.startswith("        z = y / self.scale\n")
    assert replace == "        return y"


def test_what_the_program_needs_beside_comes_with_it() -> None:
    wrong = '''"""Mine."""
import numpy as np
from cmath import sqrt as root

EXTRA = 3


def twice(x):
    return np.asarray(x) * EXTRA


class Part:
    def __init__(self, size):
        self.size = size
        self.scale = root(size)

    def forward(self, x):
        return twice(x) / self.scale
'''
    made = applied(SOLUTION, patches_of(SOLUTION, wrong, ["Part"]))
    assert plain(made, ("Part", "twice")) == plain(wrong)
    assert {"import numpy as np", "from cmath import sqrt as root", "EXTRA = 3"} <= set(made.splitlines())
    assert ast.parse(made)


def test_a_class_of_other_methods_is_replaced_as_a_whole() -> None:
    wrong = "class Part:\n    size = 3\n\n    def go(self):\n        return self.size\n"
    [(find, replace)] = patches_of(SOLUTION, wrong, ["Part"])
    assert find.startswith("class Part:")
    assert plain(applied(SOLUTION, ((find, replace),)), ("Part",)) == plain(wrong)


def test_a_function_in_place_of_an_import_comes_before_what_uses_it() -> None:
    solution = "from math import sqrt\n\n\ndef root(x):\n    return sqrt(x)\n"
    wrong = solution.replace(
        "from math import sqrt\n", "def sqrt(x):\n    return x / 2\n\n\ndef unused(x):\n    return x\n"
    )
    namespace: dict[str, Any] = {}
    exec(applied(solution, patches_of(solution, wrong, ["sqrt"])), namespace)
    assert namespace["root"](8) == 4
    with pytest.raises(UsageError, match="those of the solution"):
        patches_of(solution, wrong, ["unused"])


def test_a_file_is_read_as_python_reads_it() -> None:
    wrong = SOLUTION.replace("z = y / self.scale", "z = y * self.scale")
    assert patches_of(SOLUTION, b"\xef\xbb\xbf" + wrong.encode(), ["Part"]) == patches_of(SOLUTION, wrong, ["Part"])


def test_what_is_made_of_a_part_afterwards_does_not_stand_for_it() -> None:
    wrong = SOLUTION.replace("z = y / self.scale", "z = y * self.scale")
    assert patches_of(SOLUTION, f"{wrong}\nPart = compiled(Part)\n", ["Part"]) == patches_of(SOLUTION, wrong, ["Part"])


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("def (", "is not valid Python"),
        ("x" * 3 + "\0", "is not valid Python"),
        (SOLUTION, "those of the solution"),
        ("", "those of the"),
        (f"class Part:\n    size = {'-' * 1500}3\n", "nested too deeply"),
        (b"# coding: no-such-one\n", "is not valid Python"),
    ],
)
def test_a_program_that_is_no_patch_is_refused(source: str | bytes, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        patches_of(SOLUTION, source, ["Part"])


@pytest.mark.long
@pytest.mark.parametrize("exercise", COURSE.exercises, ids=lambda exercise: exercise.id)
def test_every_misconception_of_the_course_can_be_made_again_from_its_program(exercise: Exercise) -> None:
    solution = (COURSE.solutions_dir / exercise.file).read_text("utf-8")
    catalogue = read_catalogue(COURSE.solutions_dir / "misconceptions" / f"{exercise.id}.toml", solution)
    right = plain(solution)
    for entry in catalogue[::EVERY]:
        wrong = patched(solution, entry)
        parts = [name for name, text in plain(wrong).items() if right.get(name) != text]
        if not parts:  # a mistake in a constant outside of all functions, which is written by hand
            continue
        patches = patches_of(solution, wrong, parts)
        assert plain(applied(solution, patches)) == plain(wrong)
        [read] = tomllib.loads(entry_of(exercise, "a-name", "3 students failed alike.", patches)).values()
        entries = read.get("patches", [read])
        assert (
            tuple((patch["find"].removesuffix("\n"), patch["replace"].removesuffix("\n")) for patch in entries)
            == patches
        )


def test_standard_texts_are_those_of_a_complete_entry() -> None:
    exercise = COURSE.exercises[0]
    for operator, texts in TEXTS.items():
        entry = entry_of(exercise, "an-id", "A mutant.", [("return x", f"return {operator!r}")], texts)
        [(_, read)] = tomllib.loads(entry).items()
        assert "TODO" not in entry
        assert all(len(read[name]) <= longest for name, longest in LENGTHS.items())
