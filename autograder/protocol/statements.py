"""Hash the statements of a program: equal code under other names has equal hashes, and no hash reveals the code."""

import ast
import builtins
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from autograder.protocol.bounds import STATEMENT_HASH, SURVEY_STATEMENTS

BODIES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_IGNORED = frozenset({"ctx", "type_comment", "annotation", "returns", "kind"})
_BUILT_IN = frozenset(dir(builtins))

_KINDS = [kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)]
_CHILD_FIELDS = {kind: [name for name in kind._fields if name != "ctx"] for kind in _KINDS}
BODIES_OF = {
    kind: [name for name in kind._fields if name in BODIES and not issubclass(kind, ast.expr)] for kind in _KINDS
}
"""The fields of each kind of node that hold statements, or nodes that do, in the order of the text."""

_HASHED_FIELDS = {
    kind: [
        name for name in kind._fields if name not in _IGNORED and not (issubclass(kind, ast.stmt) and name in BODIES)
    ]
    for kind in _KINDS
}


def statements(tree: ast.Module, nodes: Iterable[ast.AST] | None = None) -> list[tuple[str, int, int]]:
    """Return hash, first and last line of every statement; for a compound statement, of its head alone.

    Names are replaced by their order in the statement, except built-in names and those the file imports or defines at
    its top level. `nodes` takes the result of `nodes_of` where the caller already has it.
    """
    fixed = {*_BUILT_IN, *_global_names(tree)}
    hashed = []
    for node in nodes if nodes is not None else nodes_of(tree):
        if isinstance(node, ast.stmt) and not _is_text(node):
            bodies = [part for name in BODIES_OF[type(node)] for part in getattr(node, name)]
            starts = [(part.pattern if isinstance(part, ast.match_case) else part).lineno - 1 for part in bodies]
            last = max(node.lineno, min(starts, default=node.end_lineno or node.lineno))
            hashed.append((_hash(node, fixed), node.lineno, last))
    return sorted(hashed, key=lambda statement: statement[1])[:SURVEY_STATEMENTS]


def name_hash(name: str) -> str:
    """Return the hash of a name, which does not reveal it."""
    return hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:STATEMENT_HASH]


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """Return a tree's nodes as `ast.walk` does, without the contexts (Load, Store, Del), which are half of them."""
    nodes = [tree]
    for node in nodes:
        for name in _CHILD_FIELDS[type(node)]:
            value = getattr(node, name, None)
            if isinstance(value, list):
                nodes += [child for child in value if isinstance(child, ast.AST)]
            elif isinstance(value, ast.AST):
                nodes.append(value)
    return nodes


def _global_names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _hash(node: ast.stmt, fixed: set[str]) -> str:
    names: dict[str, str] = {}
    text = _canonical(node, fixed, names)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:STATEMENT_HASH]


def _canonical(top: ast.AST, fixed: set[str], names: dict[str, str]) -> str:
    """Return a tree as text. It works without recursion, since a tree may be deeper than Python's stack."""
    done: list[str] = []
    stack: list[ast.AST | str] = [top]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            done.append(node)
        else:
            done.append(f"{type(node).__name__}(")
            parts = _parts(node, fixed, names)
            parts.append(")")
            stack += reversed(parts)
    return "".join(done)


def _parts(node: ast.AST, fixed: set[str], names: dict[str, str]) -> list[ast.AST | str]:
    """Return the child nodes of a node, with the text of its other fields between them."""
    parts: list[ast.AST | str] = []
    for name in _HASHED_FIELDS[type(node)]:
        value: Any = getattr(node, name, None)
        if isinstance(value, ast.AST):
            parts.append(value)
        elif name in ("id", "arg") and isinstance(node, ast.Name | ast.arg) and value not in fixed:
            parts.append(names.setdefault(value, f"#{len(names)},"))
        elif isinstance(value, list):
            parts.append("[")
            parts += [item if isinstance(item, ast.AST) else _constant(item) for item in value]
            parts.append("]")
        else:
            parts.append(_constant(value))
    return parts


def _constant(value: object) -> str:
    """Return a constant as text: an int in hexadecimal, since Python refuses to write very long ones as decimals."""
    return f"{value:#x}," if type(value) is int else f"{value!r},"
