"""Statements of a program as hashes: the same for the same code under other names, and nothing to read in them."""

import ast
import builtins
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from autograder.protocol.bounds import STATEMENT_HASH, SURVEY_STATEMENTS

BODIES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_UNSAID = frozenset({"ctx", "type_comment", "annotation", "returns", "kind"})
_BUILT_IN = frozenset(dir(builtins))

_KINDS = [each for each in vars(ast).values() if isinstance(each, type) and issubclass(each, ast.AST)]
_UNDER = {kind: [name for name in kind._fields if name != "ctx"] for kind in _KINDS}
BODIES_OF = {
    kind: [name for name in kind._fields if name in BODIES and not issubclass(kind, ast.expr)] for kind in _KINDS
}
"""The fields of each kind of node that hold statements, or parts that do, in the order of the text."""

_SAID = {
    kind: [name for name in kind._fields if name not in _UNSAID and not (issubclass(kind, ast.stmt) and name in BODIES)]
    for kind in _KINDS
}


def statements(tree: ast.Module, nodes: Iterable[ast.AST] | None = None) -> list[tuple[str, int, int]]:
    """Return hash, first and last line of every statement; of a compound one, of its head alone.

    Names are replaced by their order in the statement, except those a file imports or defines at its top level, and
    Python's own. `nodes` are those of `nodes_of`, for whoever has them already.
    """
    fixed = {*_BUILT_IN, *_global_names(tree)}
    found = []
    for node in nodes if nodes is not None else nodes_of(tree):
        if isinstance(node, ast.stmt) and not _is_text(node):
            bodies = [part for name in BODIES_OF[type(node)] for part in getattr(node, name)]
            starts = [(part.pattern if isinstance(part, ast.match_case) else part).lineno - 1 for part in bodies]
            last = max(node.lineno, min(starts, default=node.end_lineno or node.lineno))
            found.append((_hash(node, fixed), node.lineno, last))
    return sorted(found, key=lambda each: each[1])[:SURVEY_STATEMENTS]


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """Return a tree's nodes as `ast.walk` does, but for those that only say whether a name is read or set."""
    nodes = [tree]
    for node in nodes:
        for name in _UNDER[type(node)]:
            value = getattr(node, name, None)
            if isinstance(value, list):
                nodes += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                nodes.append(value)
    return nodes


def _global_names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (each.asname or each.name.split(".")[0] for each in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _hash(node: ast.stmt, fixed: set[str]) -> str:
    names: dict[str, str] = {}
    text = _written(node, fixed, names)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:STATEMENT_HASH]


def _written(top: ast.AST, fixed: set[str], names: dict[str, str]) -> str:
    """Return a tree as text. It keeps a list of its own of what is left, for a tree may be deeper than Python calls."""
    done: list[str] = []
    rest: list[ast.AST | str] = [top]
    while rest:
        node = rest.pop()
        if isinstance(node, str):
            done.append(node)
        else:
            done.append(f"{type(node).__name__}(")
            parts = _parts(node, fixed, names)
            parts.append(")")
            rest += reversed(parts)
    return "".join(done)


def _parts(node: ast.AST, fixed: set[str], names: dict[str, str]) -> list[ast.AST | str]:
    """Return the nodes under a node, with the text of all else between them."""
    parts: list[ast.AST | str] = []
    for name in _SAID[type(node)]:
        value: Any = getattr(node, name, None)
        if isinstance(value, ast.AST):
            parts.append(value)
        elif name in ("id", "arg") and isinstance(node, ast.Name | ast.arg) and value not in fixed:
            parts.append(names.setdefault(value, f"#{len(names)},"))
        elif isinstance(value, list):
            parts.append("[")
            parts += [each if isinstance(each, ast.AST) else _constant(each) for each in value]
            parts.append("]")
        else:
            parts.append(_constant(value))
    return parts


def _constant(value: object) -> str:
    """Return a constant as text; a decimal number of too many digits would be refused."""
    return f"{value:#x}," if type(value) is int else f"{value!r},"
