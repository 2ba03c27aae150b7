"""What a file says by its syntax alone: where its functions return, and which calls it names."""

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from autograder.protocol.statements import statements

MOST_PLACES = 200
MOST_ASSIGNMENTS = 500


@lru_cache(maxsize=64)
def survey(source: bytes, forbidden: tuple[str, ...]) -> dict[str, Any]:
    """Say where the functions of a file return their values, which forbidden calls it names, and its statements.

    Raises what `ast.parse` does.
    """
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    return {
        "places": places(tree),
        "forbidden": forbidden_calls(nodes, forbidden),
        "assignments": assignments(tree),
        "statements": [list(each) for each in statements(tree, nodes)],
    }


def places(tree: ast.Module) -> dict[str, list[int]]:
    """Return, for each function and each class (its `forward`), the line of the definition and of every return."""
    found: dict[str, list[int]] = {}
    for owner in tree.body:
        for name, function in _functions(owner):
            returns = [node.lineno for node in _own_nodes(function) if isinstance(node, ast.Return)]
            found[name] = [function.lineno, *returns]
    return dict(list(found.items())[:MOST_PLACES])


def _functions(owner: ast.stmt) -> Iterator[tuple[str, ast.FunctionDef]]:
    if isinstance(owner, ast.FunctionDef):
        yield owner.name, owner
    if isinstance(owner, ast.ClassDef):
        for part in owner.body:
            if isinstance(part, ast.FunctionDef):
                yield f"{owner.name}.{part.name}", part
                if part.name == "forward":
                    yield owner.name, part


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Walk a function without the functions defined in it."""
    rest: list[ast.AST] = list(function.body)
    while rest:
        node = rest.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            rest[:0] = ast.iter_child_nodes(node)


def assignments(tree: ast.Module) -> list[list[str | int]]:
    """Return owner, name and line of every assignment to one name, or to one attribute of `self`, in a function.

    The owner of a name is its function, that of an attribute its class.
    """
    found: list[list[str | int]] = []
    for owner in tree.body:
        for name, function in dict(_functions(owner)).items():
            if isinstance(owner, ast.ClassDef) and name == owner.name:
                continue
            for node in _own_nodes(function):
                targets = node.targets if isinstance(node, ast.Assign) else []
                targets = [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else targets
                for target in targets:
                    match target:
                        case ast.Name(id=variable):
                            found.append([name, variable, target.lineno])
                        case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
                            found.append([owner.name, f"self.{attribute}", target.lineno])  # type: ignore[attr-defined]
    return found[:MOST_ASSIGNMENTS]


def outermost_loop(source: bytes, line: int) -> int | None:
    """Return the line of the outermost `while` or `for` around a line, None where there is none."""
    loops = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.While | ast.For))
    around = [node.lineno for node in loops if node.lineno <= line <= (node.end_lineno or node.lineno)]
    return min(around, default=None)


def forbidden_calls(nodes: Sequence[ast.AST], forbidden: Sequence[str]) -> list[list[str | int]]:
    """Return `[dotted name, line]` of every mention, in a file's nodes, of a forbidden name or of one under it.

    Aliases and `getattr` with a constant are seen through.
    """
    if not forbidden:
        return []
    named = [*_used(nodes, dict(_aliases(nodes))), *_imported(nodes)]
    under = tuple(f"{each}." for each in forbidden)
    mentions = {(name, line) for name, line in named if name in forbidden or name.startswith(under)}
    return [[name, line] for name, line in sorted(mentions, key=lambda each: each[1])]


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
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
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
