"""The text of a program, and edits of it."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent

from autograder.edits.slots import Slot


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


class Text:
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

    def of(self, node: ast.AST) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.source[start:end]

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

    def changed(self, line: int, changes: Sequence[tuple[ast.AST, str]]) -> Edit:
        """Return one edit that puts other texts in place of several nodes, none of which is in another one."""
        spans = sorted((self.span(node), text) for node, text in changes)
        start, end = spans[0][0][0], spans[-1][0][1]
        parts, at = [], start
        for (begin, stop), text in spans:
            parts += [self.source[at:begin], text]
            at = stop
        return Edit(line, start, end, "".join(parts))

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

    def has_own_lines(self, statement: ast.stmt) -> bool:
        """Whether a statement shares no line with other code, so that its lines can be moved."""
        start, end = self.span(statement)
        before = self.source[self.starts[statement.lineno - 1] : start]
        behind = self.source[end : self.starts[statement.end_lineno or statement.lineno]]
        return not before.strip() and not behind.partition("#")[0].strip() and not self.source.startswith("elif", start)

    def moved(self, statement: ast.stmt, line: int, column: int, *, leaves_nothing: bool = False) -> Edit:
        """Return the edit that puts whole lines before a line, with the indentation of its statements.

        With `leaves_nothing` the block that they are taken from gets a `pass`.
        """
        first, last = statement.lineno - 1, statement.end_lineno or statement.lineno
        shift = column - statement.col_offset
        taken = [_shifted(text, shift) for text in self.lines[first:last]]
        left = [" " * statement.col_offset + "pass"] if leaves_nothing else []
        at = line - 1
        lines = [*taken, *self.lines[at:first], *left] if at <= first else [*left, *self.lines[last:at], *taken]
        start, end = self.starts[min(at, first)], min(self.starts[max(at, last)] - 1, len(self.source))
        return Edit(statement.lineno, start, max(start, end), "\n".join(lines))


def _shifted(line: str, by: int) -> str:
    return " " * by + line if by > 0 else line[min(-by, len(line) - len(line.lstrip())) :]
