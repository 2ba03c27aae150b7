"""Whether a place is right: the lines on which a wrong program differs from the solution, or the next statement."""

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher


def faulty_lines(solution: str, wrong: str) -> frozenset[int]:
    """Return the lines of the wrong program that a place may name: those that are faulty, and the statement after."""
    starts = sorted(
        {
            node.lineno
            for node in ast.walk(ast.parse(wrong))
            if isinstance(node, ast.stmt) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        }
    )
    return frozenset(_faulty(solution.splitlines(), wrong.splitlines(), starts))


def _faulty(right: list[str], wrong: list[str], starts: list[int]) -> Iterator[int]:
    for kind, _, _, first, last in SequenceMatcher(None, right, wrong, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from range(first + 1, last + 1)
            yield next((start for start in starts if start > last), last)
