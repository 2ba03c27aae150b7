"""Whether a place is right: the lines on which a wrong program differs from the solution, or the next statement."""

from collections.abc import Iterator
from difflib import SequenceMatcher

from autograder.protocol.statements import statements


def faulty_lines(solution: str, wrong: str) -> frozenset[int]:
    """Return the lines of the wrong program that a place may name: those that are faulty, and the statement after.

    A line of a statement on several lines stands for the first of them.
    """
    spans = [(first, last) for _, first, last in statements(wrong)]
    changed = list(_changed(solution.splitlines(), wrong.splitlines(), [first for first, _ in spans]))
    return frozenset(changed + [first for first, last in spans if any(first <= line <= last for line in changed)])


def _changed(right: list[str], wrong: list[str], starts: list[int]) -> Iterator[int]:
    for kind, _, _, first, last in SequenceMatcher(None, right, wrong, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from range(first + 1, last + 1)
            yield next((start for start in starts if start > last), last)
