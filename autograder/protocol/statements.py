"""Statements of a program as hashes: the same for the same code under other names, and nothing to read in them."""

import ast
import builtins
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

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
            starts = [(part.pattern if isinstance(part, ast.match_case) else part).lineno - 1 for part in bodies]
            last = max(node.lineno, min(starts, default=node.end_lineno or node.lineno))
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


@dataclass(frozen=True)
class _Text:
    """A piece of what is written, beside the parts of the tree that are still to be written."""

    text: str


def _written(top: object, fixed: set[str], names: dict[str, str]) -> str:
    """Return a tree as text. It keeps a list of its own of what is left, for a tree may be deeper than Python calls."""
    done: list[str] = []
    rest: list[object] = [top]
    while rest:
        match rest.pop():
            case _Text(text):
                done.append(text)
            case list() as items:
                rest += [_Text("]"), *reversed(items), _Text("[")]
            case ast.AST() as node:
                rest += [_Text(")"), *reversed(list(_parts(node, fixed, names))), _Text(f"{type(node).__name__}(")]
            case int(number) if type(number) is int:
                done.append(f"{number:#x},")  # a decimal number of too many digits is refused
            case constant:
                done.append(f"{constant!r},")
    return "".join(done)


def _parts(node: ast.AST, fixed: set[str], names: dict[str, str]) -> Iterator[object]:
    for name, value in ast.iter_fields(node):
        if name in ("ctx", "type_comment", "annotation", "returns", "kind") or (
            isinstance(node, ast.stmt) and name in BODIES
        ):
            continue
        known = isinstance(node, ast.Name | ast.arg) and name in ("id", "arg") and value not in fixed
        yield _Text(names.setdefault(value, f"#{len(names)},")) if known else value
