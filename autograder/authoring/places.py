"""The lines of a wrong program that a finding may point to."""

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher

from autograder.protocol.statements import statements


def faulty_lines(solution: str, wrong: str) -> frozenset[int]:
    """Return the right locations in a wrong program: its changed lines, and the next statement.

    The next statement counts, since a removed line has no line of its own. A changed line inside a statement also
    counts for the first line of that statement.
    """
    spans = [(one.line, one.last) for one in statements(ast.parse(wrong))]
    changed = list(_changed(solution.splitlines(), wrong.splitlines(), [first for first, _ in spans]))
    return frozenset(changed + [first for first, last in spans if any(first <= line <= last for line in changed)])


def _changed(right: list[str], wrong: list[str], starts: list[int]) -> Iterator[int]:
    for kind, _, _, first, last in SequenceMatcher(None, right, wrong, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from range(first + 1, last + 1)
            yield next((start for start in starts if start > last), last)
