"""Find small edits that may mend a wrong program: what stands there replaced, or what is missing added.

The likeliest edits come first: those near the lines that are suspected, and those that mend common mistakes.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import indent

from autograder.edits.additions import Scope, additions, insertions
from autograder.edits.operators import variants
from autograder.edits.slots import Slot, pairs, slots

RELATED, BESIDE, AWAY = 1.0, 1.5, 3.0
"""Ranks that an edit loses where the suspected lines take their values from, elsewhere in their functions, and
anywhere else."""

LONGEST = 400
"""Characters of the longest edit: a longer one rewrites more than one mistake."""

RANKS = {
    "another name": 1,
    "argument dropped": 1,
    "off by one": 1,
    "constant": 1,
    "condition": 1,
    "call dropped": 1,
    "statement dropped": 1,
    "in place": 2,
    "loop": 2,
    "gradient": 2,
    "block dropped": 3,
}
"""How much later an operator is tried than those without an entry: it mends less often, or costs a mistake's trace."""

ORDER_RANK = 1
STEPS_BACK = 2


@dataclass(frozen=True)
class Edit:
    """A replacement of the characters from `start` to `end` of a program; `line` is the line that it is about."""

    line: int
    start: int
    end: int
    text: str

    def applied(self, source: str) -> str:
        """Return the program with the edit."""
        return f"{source[: self.start]}{self.text}{source[self.end :]}"


def repairs(source: str, lines: Sequence[int], most: int) -> list[Edit]:
    """Return at most so many edits of a program, the likeliest first; `lines` are those that are suspected.

    Raises whatever `ast.parse` raises.
    """
    tree = ast.parse(source)
    text = _Text(source)
    beside, related = _beside(tree, lines), _related(tree, lines)
    ranked: dict[tuple[int, int, str], tuple[float, Edit]] = {}
    for rank, edit in _edits(tree, text):
        at = edit.start, edit.end, edit.text
        if len(edit.text) > LONGEST or source[edit.start : edit.end] == edit.text:
            continue
        line = edit.line
        away = 0.0 if line in lines else RELATED if line in related else BESIDE if line in beside else AWAY
        if at not in ranked or ranked[at][0] > rank + away:
            ranked[at] = rank + away, edit
    return [edit for _, edit in sorted(ranked.values(), key=lambda pair: pair[0])[:most]]


def _beside(tree: ast.Module, lines: Sequence[int]) -> set[int]:
    """Return the lines of the innermost functions that hold the suspected lines."""
    found: set[int] = set()
    spans = [
        (node.lineno, node.end_lineno or node.lineno) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
    ]
    for line in lines:
        around = [span for span in spans if span[0] <= line <= span[1]]
        if around:
            first, last = min(around, key=lambda span: span[1] - span[0])
            found |= set(range(first, last + 1))
    return found


def _related(tree: ast.Module, lines: Sequence[int]) -> set[int]:
    """Return the lines that make what the suspected lines use: their variables, attributes and functions."""
    found: set[int] = set()
    wanted = set(lines)
    for _ in range(STEPS_BACK):
        used = {
            name for node in ast.walk(tree) if getattr(node, "lineno", 0) in wanted for name in _names(node, ast.Load)
        }
        wanted = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name in used:
                wanted |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            elif isinstance(node, ast.stmt) and not hasattr(node, "body"):
                stored = {name for part in ast.walk(node) for name in _names(part, ast.Store)}
                if stored & used:
                    wanted |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        wanted -= found
        found |= wanted
    return found


def _names(node: ast.AST, context: type[ast.expr_context]) -> list[str]:
    """Return the name of a variable or an attribute that is read, or stored."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, context):
        return [node.id]
    return [node.attr] if isinstance(node, ast.Attribute) and isinstance(node.ctx, context) else []


class _Text:
    """The text of a program, in which the places of nodes are found."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends; raises AttributeError for one without a place."""
        first, last = getattr(node, "lineno"), getattr(node, "end_lineno")  # noqa: B009
        return self._at(first, getattr(node, "col_offset")), self._at(last, getattr(node, "end_col_offset"))  # noqa: B009

    def _at(self, line: int, column: int) -> int:
        text = self.lines[line - 1]
        before = column if text.isascii() else len(text.encode()[:column].decode("utf-8", "ignore"))
        return self.starts[line - 1] + before

    def replaced(self, slot: Slot, other: ast.AST) -> Edit | None:
        """Return the edit that puts another node in place of one."""
        statement = slot.place.statement
        assert statement is not None
        if isinstance(slot.node, ast.expr) and not isinstance(slot.node, ast.Slice) and isinstance(other, ast.expr):
            plain = isinstance(other, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript)
            text = ast.unparse(other)
            return Edit(slot.node.lineno, *self.span(slot.node), text if plain else f"({text})")
        if isinstance(slot.node, ast.stmt) and isinstance(other, ast.stmt):
            return Edit(statement.lineno, *self.span(statement), self._statement(other, statement.col_offset))
        if hasattr(statement, "body"):
            return None
        slot.put(other)
        text = self._statement(statement, statement.col_offset)
        slot.put(slot.node)
        return Edit(getattr(slot.node, "lineno", statement.lineno), *self.span(statement), text)

    def _statement(self, node: ast.stmt, column: int) -> str:
        return indent(ast.unparse(ast.fix_missing_locations(node)), " " * column).lstrip()

    def exchanged(self, first: ast.AST, second: ast.AST) -> Edit:
        """Return the edit that exchanges two statements."""
        (start, end), (after, last) = self.span(first), self.span(second)
        parts = self.source[after:last], self.source[end:after], self.source[start:end]
        return Edit(getattr(first, "lineno", 1), start, last, "".join(parts))

    def inserted(self, statement: ast.stmt, text: str, *, before: bool = False) -> Edit:
        """Return the edit that puts a line before or behind a statement, with its indentation."""
        start, end = self.span(statement)
        pad = "\n" + " " * statement.col_offset
        if before:
            return Edit(statement.lineno, start, start, f"{text}{pad}")
        return Edit(statement.lineno, end, end, f"{pad}{text}")


def _edits(tree: ast.Module, text: _Text) -> Iterator[tuple[float, Edit]]:
    scope = Scope(tree)
    for slot in list(slots(tree)):
        if isinstance(slot.parent, ast.JoinedStr | ast.FormattedValue) or isinstance(slot.node, ast.ClassDef):
            continue
        for operator, other in variants(slot, scope.imported):
            edit = text.replaced(slot, ast.fix_missing_locations(other))
            if edit is not None:
                yield RANKS.get(operator, 0), edit
        if isinstance(slot.node, ast.expr) and not isinstance(slot.node, ast.Slice):
            for rank, replacement in additions(slot, scope):
                yield rank, Edit(slot.node.lineno, *text.span(slot.node), replacement)
        elif isinstance(slot.node, ast.stmt):
            for rank, line, before in insertions(slot, scope):
                yield rank, text.inserted(slot.node, line, before=before)
    for first, second in pairs(tree):
        yield ORDER_RANK, text.exchanged(first.node, second.node)
