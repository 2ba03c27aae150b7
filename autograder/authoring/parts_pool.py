"""The constants of a compiled reference part, and the errors of the compiler."""

import ast
import json
from collections.abc import Sequence
from typing import Any

from autograder.protocol.part_code import FUNCTION


class PartError(Exception):
    """A reference part that cannot be compiled; the message is a sentence with its file and line."""


class Unsupported(Exception):
    """Python that a reference part cannot have, and what its author can write instead."""

    def __init__(self, node: ast.AST, what: str, do: str) -> None:
        super().__init__(f"{what} is not supported in a reference part: {do}")
        self.line = int(getattr(node, "lineno", 1))


class Constant:
    """An entry of the pool, as JSON text."""

    def __init__(self, text: str) -> None:
        self.text = text


Operand = int | Constant
Row = list[Any]
Namespace = dict[str, Any]
"""The names of a file: the number of an item, a tuple with a dotted library name, or a constant."""


class Pool:
    """The constants of a part, in alphabetical order, which hides the order of their use."""

    def __init__(self) -> None:
        self._entries: dict[str, Constant] = {}

    def constant(self, value: object) -> Constant:
        """Return the entry for a constant, a `(dotted name,)`, or the `[number]` of an item."""
        text = json.dumps(value)
        return self._entries.setdefault(text, Constant(text))

    def sorted(self, items: Sequence[Sequence[Any]]) -> tuple[list[Any], list[list[Any]]]:
        """Return the sorted entries, and the items with numbers for their constants."""
        texts = sorted(self._entries)
        at = {text: number for number, text in enumerate(texts)}

        def numbered(part: Any, *, operand: bool) -> Any:
            if isinstance(part, Constant):
                return -1 - at[part.text] if operand else at[part.text]
            return [numbered(inner, operand=operand) for inner in part] if isinstance(part, list) else part

        numbers = []
        for item in items:
            *head, last = item
            numbers.append([*numbered(head, operand=False), numbered(last, operand=item[0] == FUNCTION)])
        return [json.loads(text) for text in texts], numbers
