"""The statements of a program by line: where each is, and the names that it reads and binds."""

import ast
from dataclasses import dataclass

from autograder.protocol.source_text import text_of

SELF = "self"


@dataclass(frozen=True)
class Statement:
    """A simple statement, or the head of a compound one: its location, and the names it reads and binds.

    `own` are the names of its comprehensions.
    """

    line: int
    end_line: int
    columns: tuple[int | None, int | None]
    reads: frozenset[str]
    binds: frozenset[str]
    own: frozenset[str]
    returned: str | None = None


def statements_of(source: bytes) -> dict[int, Statement]:
    """Return the statement of each line; none of a file that cannot be read."""
    try:
        tree = ast.parse(text_of(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    lines: dict[int, Statement] = {}
    for node in ast.walk(tree):  # outer statements come first, so inner ones replace them
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            statement = _statement(node)
            lines.update(dict.fromkeys(range(statement.line, statement.end_line + 1), statement))
    return lines


def _statement(node: ast.stmt) -> Statement:
    bodies = [part for name in ("body", "orelse", "finalbody", "handlers", "cases") for part in getattr(node, name, [])]
    heads = [child for child in ast.iter_child_nodes(node) if child not in bodies]
    inside = [part for head in heads for part in ast.walk(head)]
    names = [(part.id, part.ctx) for part in inside if isinstance(part, ast.Name)]
    attributes = [part for part in inside if isinstance(part, ast.Attribute) and _is_self(part.value)]
    reads = {name for name, context in names if not isinstance(context, ast.Store)}
    if sum(name == SELF for name, _ in names) == len(attributes):
        reads.discard(SELF)  # it stands for all attributes only where it is more than the object of one
    reads |= {f"{SELF}.{part.attr}" for part in attributes}
    binds = {name for name, context in names if isinstance(context, ast.Store)}
    binds |= {f"{SELF}.{part.attr}" for part in attributes if isinstance(part.ctx, ast.Store)}
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        reads.add(node.target.id)
    loops = [part.target for part in inside if isinstance(part, ast.comprehension)]
    own = {part.id for target in loops for part in ast.walk(target) if isinstance(part, ast.Name)}
    starts = [getattr(part, "lineno", node.lineno) - 1 for part in bodies]
    end = max(node.lineno, min(starts, default=node.end_lineno or node.lineno))
    columns = (node.col_offset, node.end_col_offset) if not bodies and end == node.lineno else (None, None)
    returned = None
    if isinstance(node, ast.Return) and node.value is not None:
        returned = node.value.id if isinstance(node.value, ast.Name) else ""
    return Statement(node.lineno, end, columns, frozenset(reads), frozenset(binds), frozenset(own), returned)


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == SELF
