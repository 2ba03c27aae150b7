"""Hash the statements of a program: equal code under other names has equal hashes, and no hash reveals the code."""

import ast
import builtins
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

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


class Statement(NamedTuple):
    """A statement, or the head of a compound one: its hash, its first and last line, and the name that it defines.

    `runs` is false for imports and for the heads of functions and classes: what a call computes is not on their lines.
    """

    hash: str
    line: int
    last: int
    runs: bool
    name: str = ""


def statements(tree: ast.Module, nodes: Iterable[ast.AST] | None = None) -> list[Statement]:
    """Return every statement in the order of their lines; docstrings are none.

    Names are replaced by their order in the statement, except built-in names, those the file imports, and those it
    defines at its top level. `nodes` takes the result of `nodes_of` where the caller already has it.
    """
    nodes = nodes if nodes is not None else nodes_of(tree)
    fixed = {*_BUILT_IN, *_global_names(tree, nodes)}
    hashed = []
    for node in nodes:
        if isinstance(node, ast.stmt) and not _is_text(node):
            name = node.name if isinstance(node, _DEFINITIONS) else ""
            runs = not isinstance(node, (*_DEFINITIONS, ast.Import, ast.ImportFrom))
            hashed.append(Statement(_hash(node, fixed), node.lineno, _last_line(node), runs, name))
    return sorted(hashed, key=lambda statement: statement.line)[:SURVEY_STATEMENTS]


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _last_line(node: ast.stmt) -> int:
    """Return the last line of a statement; of a compound one that of its head, without the comments below it."""
    if not BODIES_OF[type(node)]:
        return node.end_lineno or node.lineno
    heads = [child for name in _HASHED_FIELDS[type(node)] for child in _children(getattr(node, name, None))]
    parts = [part for head in heads for part in (head, *ast.iter_child_nodes(head))]  # an item of `with` has no lines
    return max([node.lineno, *(getattr(part, "end_lineno", None) or 0 for part in parts)])


def _children(value: object) -> list[ast.AST]:
    return [child for child in (value if isinstance(value, list) else [value]) if isinstance(child, ast.AST)]


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


def _global_names(tree: ast.Module, nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:  # some import in their functions
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
    yield from (node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef))


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
