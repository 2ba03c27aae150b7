"""What a check of this course computes as a gradient is called one, so that a message about it speaks of gradients."""

import ast
from collections.abc import Iterator

from tests.support.rules import ROOT

GRADIENTS = ("gradients", "grad")


def is_of_gradients(node: ast.AST) -> bool:
    """Say whether an expression is a call that returns gradients."""
    name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return name in GRADIENTS


def parts(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield the texts and values of all dicts that a function makes."""
    for node in ast.walk(function):
        if isinstance(node, ast.Dict):
            yield from ((ast.unparse(key), value) for key, value in zip(node.keys, node.values, strict=True) if key)
        elif isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Subscript):
            yield ast.unparse(target.slice), node.value


def unnamed(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the names of the parts that are gradients and do not say so."""
    held = {
        node.targets[0].id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and is_of_gradients(node.value) and isinstance(node.targets[0], ast.Name)
    }
    for name, value in parts(function):
        items = [node.value for node in ast.walk(value) if isinstance(node, ast.Subscript)]
        is_held = any(isinstance(item, ast.Name) and item.id in held for item in items)
        if (is_held or any(map(is_of_gradients, ast.walk(value)))) and "grad" not in name:
            yield name


def test_a_part_that_is_a_gradient_is_called_one() -> None:
    found = {}
    for file in sorted((ROOT / "tests" / "exercises").glob("test_ex*.py")):
        functions = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)]
        assert functions
        if names := [name for function in functions for name in unnamed(function)]:
            found[file.name] = names
    assert found == {}
