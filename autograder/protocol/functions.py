"""The functions of a file by its syntax alone: where each begins and ends, and whether it is still a TODO."""

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from autograder.protocol.bounds import MOST_NAME, SURVEY_FUNCTIONS
from autograder.protocol.source_text import text_of
from autograder.protocol.statements import statements


class Function(NamedTuple):
    """A function of a file, or a method as `Class.method`: its lines, the first one of its body, and of its TODO.

    `todo` is the line of the `raise NotImplementedError` that ends the function, 0 without one.
    """

    name: str
    line: int
    body: int
    end: int
    todo: int


class Outline(NamedTuple):
    """The functions of a file, and the hash and the line of each of its statements."""

    functions: tuple[Function, ...]
    statements: tuple[tuple[str, int], ...]


def functions(tree: ast.Module) -> list[Function]:
    """Return the functions at the top level of a file, and the methods of its classes."""
    named = (
        (node.name if owner is None else f"{owner}.{node.name}", node) for owner, node in function_definitions(tree)
    )
    found = (_function(name, node) for name, node in named if len(name) <= MOST_NAME)
    return list(found)[:SURVEY_FUNCTIONS]


def outline_of(source: str | bytes) -> Outline:
    """Return the outline of a file. Raises whatever `ast.parse` raises."""
    tree = ast.parse(text_of(source) if isinstance(source, bytes) else source)
    hashed = tuple((one.hash, one.line) for one in statements(tree))
    return Outline(tuple(functions(tree)), hashed)


def first_line(node: ast.stmt) -> int:
    """Return the first line of a statement, decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def function_definitions(tree: ast.Module) -> Iterator[tuple[str | None, ast.FunctionDef]]:
    """Yield the functions of a file, and its methods with the names of their classes: of equal methods the last one."""
    for owner in tree.body:
        if isinstance(owner, ast.FunctionDef):
            yield None, owner
        elif isinstance(owner, ast.ClassDef):
            methods = {part.name: part for part in owner.body if isinstance(part, ast.FunctionDef)}
            yield from ((owner.name, method) for method in methods.values())


def _function(name: str, node: ast.FunctionDef) -> Function:
    ends = next((part for part in node.body if isinstance(part, ast.Return | ast.Raise)), None)
    todo = ends.lineno if ends is not None and _is_todo(ends) else 0
    return Function(name, node.lineno, _body_line(node.body), node.end_lineno or node.lineno, todo)


def _body_line(body: Sequence[ast.stmt]) -> int:
    """Return the first line of a body, after its docstring."""
    is_text = len(body) > 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return body[1 if is_text else 0].lineno


def _is_todo(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Raise):
        return False
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
