"""What may be wrong in lists, words and whole numbers: an item too few, another order, another word or number."""

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from autograder.edits.replacements import AXIS_CALLS, AXIS_WORDS
from autograder.edits.scope import Scope, name_of
from autograder.edits.slots import Place, Slot
from autograder.edits.text import Edit, Text

Ranked = tuple[float, str]

AXES = (0, 1, 2, -1, -2, -3)
IDS = (0, 1, 2, 3)
"""Ids of special tokens, tried where a program has words like `<S>`."""

FLOATS = (0.0, 1.0)
"""The first values of most parameters."""

MOST_IN_ROW = 6
"""Items of the longest row whose items change places."""

MOST_WORDS = 6
"""Words of a function that are exchanged, two by two."""


def literals(slot: Slot, scope: Scope) -> Iterator[Ranked]:
    """Yield the texts that may replace a list, a row, a word or a number."""
    place = slot.place
    match slot.node:
        case ast.List(elts=[]) if isinstance(slot.parent, ast.Assign):
            yield from ((1, f"[{item}]") for item in _items(place, scope))
        case ast.List(elts=[_, *_] as items):
            text = ", ".join(ast.unparse(item) for item in items)
            yield from ((1, f"[{item}, {text}]") for item in _items(place, scope))
            yield from ((1, f"[{text}, {item}]") for item in _items(place, scope))
        case ast.BinOp(left, ast.Add(), right) as whole if isinstance(left, ast.List) or isinstance(right, ast.List):
            yield from ((1, f"([{item}] + {ast.unparse(whole)})") for item in _items(place, scope))
            yield from ((1, f"({ast.unparse(whole)} + [{item}])") for item in _items(place, scope))
        case ast.Constant(value=str() as word):
            yield from ((1, repr(other)) for other in scope.marked if other != word and word in scope.marked)
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            yield from _of_number(slot, value, scope)
        case ast.Call(ast.Attribute(ast.Constant(str()), "join"), [words]):
            yield 0, f"list({ast.unparse(words)})"
    match slot.node:
        case ast.List(elts) | ast.Tuple(elts) if isinstance(slot.node.ctx, ast.Load):
            yield from _reordered(slot.node, elts)


def _items(place: Place, scope: Scope) -> Iterator[str]:
    """Yield what may be missing in a list: a constant, what a table has for a word like `<S>`, an id."""
    yield from scope.constants
    yield from _looked_up(place, scope)
    if scope.marked:
        yield from map(str, IDS)


def _looked_up(place: Place, scope: Scope) -> Iterator[str]:
    names = {*place.parameters, *place.variables, *(f"self.{name}" for name in place.attributes)}
    yield from (f"{table}[{word!r}]" for table in scope.tables if table in names for word in scope.marked)


def _of_number(slot: Slot, value: float, scope: Scope) -> Iterator[Ranked]:
    is_axis = (isinstance(slot.parent, ast.keyword) and slot.parent.arg in AXIS_WORDS) or (
        isinstance(slot.parent, ast.Call) and name_of(slot.parent.func) in AXIS_CALLS
    )
    numbers = AXES if is_axis else scope.numbers
    yield from ((0 if is_axis else 2, repr(other)) for other in numbers if other != value)
    is_float = isinstance(value, float)
    yield from ((0, repr(other)) for other in FLOATS if is_float and other != value)
    for name in (*slot.place.parameters, *(f"self.{other}" for other in slot.place.attributes)):
        # A whole number is an axis or a place more often than a value.
        yield (0 if name in slot.place.unused else 1 if is_float else 2), name
    if scope.marked and value in IDS:
        yield from ((1, text) for text in _looked_up(slot.place, scope))
        yield from ((1, str(other)) for other in IDS if other not in (value, *scope.numbers))


def _reordered(node: ast.List | ast.Tuple, items: Sequence[ast.expr]) -> Iterator[Ranked]:
    """Yield a row with two items exchanged that are no neighbours, or with one item in another place."""
    if not 2 < len(items) <= MOST_IN_ROW:
        return
    for first, last in combinations(range(len(items)), 2):
        if last > first + 1:
            yield 1, _row(node, _exchanged(items, first, last))
    for first, last in permutations(range(len(items)), 2):
        if abs(last - first) > 1:
            rest = [*items[:first], *items[first + 1 :]]
            yield 1, _row(node, [*rest[:last], items[first], *rest[last:]])


def _exchanged(items: Sequence[ast.expr], first: int, last: int) -> list[ast.expr]:
    other = [*items]
    other[first], other[last] = other[last], other[first]
    return other


def _row(node: ast.List | ast.Tuple, items: list[ast.expr]) -> str:
    return ast.unparse(ast.fix_missing_locations(type(node)(items, ast.Load())))


def exchanged_words(node: ast.FunctionDef, text: Text) -> Iterator[tuple[float, Edit]]:
    """Yield the body of a function with two of its words exchanged, like `<S>` and `</S>`."""
    words: dict[str, list[ast.Constant]] = {}
    for constant in _keys(node):
        words.setdefault(str(constant.value), []).append(constant)
    for first, last in combinations([*words][:MOST_WORDS], 2):
        changes = [(constant, repr(last)) for constant in words[first]]
        changes += [(constant, repr(first)) for constant in words[last]]
        yield 1, text.changed(min(words[first][0].lineno, words[last][0].lineno), changes)


def _keys(node: ast.AST) -> Iterator[ast.Constant]:
    """Yield the words that something is looked up by; Python 3.11 gives no places inside of an f-string."""
    match node:
        case ast.JoinedStr():
            return
        case ast.Subscript(slice=ast.Constant(value=str()) as constant):
            yield constant
    for child in ast.iter_child_nodes(node):
        yield from _keys(child)
