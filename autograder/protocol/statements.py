"""Statements of a program as hashes: the same for the same code under other names, and nothing to read in them."""

import ast
import builtins
import hashlib
from collections.abc import Iterator

MOST_STATEMENTS = 2000
BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


def statements(tree: ast.Module) -> list[tuple[str, int, int]]:
    """Return hash, first and last line of every statement; of a compound one, of its head alone.

    Names are replaced by their order in the statement, except those a file imports or defines at its top level, and
    Python's own.
    """
    fixed = {*dir(builtins), *_global_names(tree)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not _is_text(node):
            bodies = [part for name in BODIES for part in getattr(node, name, [])]
            last = max(node.lineno, min((part.lineno - 1 for part in bodies), default=node.end_lineno or node.lineno))
            found.append((_hash(node, fixed), node.lineno, last))
    return sorted(found, key=lambda each: each[1])[:MOST_STATEMENTS]


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
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _written(node: object, fixed: set[str], names: dict[str, str]) -> str:
    if isinstance(node, list):
        return "[" + ",".join(_written(each, fixed, names) for each in node) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = []
    for name, value in ast.iter_fields(node):
        if name in ("ctx", "type_comment", "annotation", "returns", "kind") or (
            isinstance(node, ast.stmt) and name in BODIES
        ):
            continue
        known = isinstance(node, ast.Name | ast.arg) and name in ("id", "arg") and value not in fixed
        parts.append(names.setdefault(value, f"#{len(names)}") if known else _written(value, fixed, names))
    return f"{type(node).__name__}({','.join(parts)})"
