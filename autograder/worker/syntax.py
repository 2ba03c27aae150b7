"""What a file says by its syntax alone: where its functions return, and which calls it names."""

import ast
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, NamedTuple

from autograder.protocol.bounds import (
    MOST_NAME,
    SURVEY_ASSIGNMENTS,
    SURVEY_FORBIDDEN,
    SURVEY_PLACES,
    SURVEY_RETURNS,
    cut,
)
from autograder.protocol.source_text import text_of
from autograder.protocol.statements import BODIES_OF, nodes_of, statements

ASKING = "autograder.notebook."
"""What a notebook asks the kit with: an import of it may stay in a file that was made of a notebook."""


@lru_cache(maxsize=64)
def survey(source: bytes, forbidden: tuple[str, ...]) -> dict[str, Any]:
    """Say where the functions of a file return their values, which forbidden calls it names, and its statements.

    Raises what `text_of` and `ast.parse` do.
    """
    tree = ast.parse(text_of(source))
    nodes = nodes_of(tree)
    functions = list(_functions(tree))
    return {
        "places": places(functions),
        "forbidden": forbidden_calls(nodes, forbidden),
        "assignments": assignments(functions),
        "statements": [list(each) for each in statements(tree, nodes)],
    }


class _Function(NamedTuple):
    """A function or method: the names it goes by, the class it is in, if any, and the statements that are its own."""

    names: tuple[str, ...]
    owner: str
    line: int
    statements: list[ast.stmt]


def _functions(tree: ast.Module) -> Iterator[_Function]:
    for owner in tree.body:
        if isinstance(owner, ast.FunctionDef):
            yield _Function((owner.name,), owner.name, owner.lineno, list(_own_statements(owner)))
        elif isinstance(owner, ast.ClassDef):
            methods = {part.name: part for part in owner.body if isinstance(part, ast.FunctionDef)}
            for part in methods.values():
                name = f"{owner.name}.{part.name}"
                names = (name, owner.name) if part.name == "forward" else (name,)
                yield _Function(names, owner.name, part.lineno, list(_own_statements(part)))


def _own_statements(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """Walk the statements of a function without those of the functions and classes defined in it."""
    rest: list[Any] = function.body[::-1]
    while rest:
        node = rest.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for name in reversed(BODIES_OF[type(node)]):
                rest += reversed(getattr(node, name))


def places(functions: Sequence[_Function]) -> dict[str, list[int]]:
    """Return, for each function and each class (its `forward`), the line of the definition and of every return."""
    found: dict[str, list[int]] = {}
    for function in functions:
        returns = [node.lineno for node in function.statements if isinstance(node, ast.Return)]
        lines = [function.line, *returns][:SURVEY_RETURNS]
        found.update({name: lines for name in function.names if len(name) <= MOST_NAME})
    return dict(list(found.items())[:SURVEY_PLACES])


def assignments(functions: Sequence[_Function]) -> list[list[str | int]]:
    """Return owner, name and line of every assignment to one name, or to one attribute of `self`, in a function.

    The owner of a name is its function, that of an attribute its class.
    """
    found: list[list[str | int]] = []
    for function in functions:
        for node in function.statements:
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    match target:
                        case ast.Name(id=variable):
                            found.append([function.names[0], variable, target.lineno])
                        case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
                            found.append([function.owner, f"self.{attribute}", target.lineno])
    return [each for each in found if max(len(str(each[0])), len(str(each[1]))) <= MOST_NAME][:SURVEY_ASSIGNMENTS]


def outermost_loop(source: bytes, line: int) -> int | None:
    """Return the line of the outermost `while` or `for` around a line, None where there is none."""
    loops = (node for node in ast.walk(ast.parse(text_of(source))) if isinstance(node, ast.While | ast.For))
    around = [node.lineno for node in loops if node.lineno <= line <= (node.end_lineno or node.lineno)]
    return min(around, default=None)


def forbidden_calls(nodes: Sequence[ast.AST], forbidden: Sequence[str]) -> list[list[str | int]]:
    """Return `[dotted name, line]` of every mention, in a file's nodes, of a forbidden name or of one under it.

    Aliases and `getattr` with a constant are seen through.
    """
    if not forbidden:
        return []
    named = {*_used(nodes, dict(_aliases(nodes))), *_imported(nodes)}
    mentions = [(name, line) for name, line in named if _is_meant(name, forbidden)]
    in_order = sorted(mentions, key=lambda each: (each[1], len(each[0])))
    return [[cut(name), line] for name, line in in_order[:SURVEY_FORBIDDEN]]


def _is_meant(name: str, forbidden: Sequence[str]) -> bool:
    """Whether a dotted name is one of some names, or under one; in these, `*` stands for anything."""
    if f"{name}.".startswith(ASKING):
        return False
    return any(f"{name}.".startswith(f"{each}.") or ("*" in each and fnmatchcase(name, each)) for each in forbidden)


def _used(nodes: Sequence[ast.AST], aliases: dict[str, str]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        name = _dotted(node, aliases)
        if name:
            yield name, getattr(node, "lineno", 1)


def _aliases(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for each in node.names:
                yield (each.asname, each.name) if each.asname else (each.name.split(".")[0], each.name.split(".")[0])
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                yield each.asname or each.name, f"{node.module}.{each.name}"


def _imported(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((each.name, node.lineno) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                yield f"{node.module}.{each.name}", node.lineno


def _dotted(node: ast.AST, aliases: dict[str, str]) -> str | None:
    attributes: list[str] = []
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=value, attr=attr):
                node = value
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(attr)), *_]):
                node = owner
            case _:
                return None
        attributes.insert(0, attr)
    owner_name = aliases.get(node.id)
    return owner_name and ".".join([owner_name, *attributes])
