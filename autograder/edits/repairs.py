"""Find small edits that may mend a wrong program: what stands there replaced, or what is missing added.

The likeliest edits come first: those near the lines that are suspected, and those that mend common mistakes.
"""

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain

from autograder.edits.additions import additions, insertions, on_one_device
from autograder.edits.guides import JUST, LIKE, NO_CLUES, Clues, Guides, variables, writes_less
from autograder.edits.literals import exchanged_words, literals
from autograder.edits.moves import exchanged, exchanged_parameters, moved, regrouped, restated
from autograder.edits.operators import variants
from autograder.edits.scope import Scope
from autograder.edits.slots import Slot, pairs, slots
from autograder.edits.text import Edit, Text

RELATED, BESIDE, REACHED, AWAY, UNREACHED = 1.0, 1.5, 2.0, 3.0, 6.0
"""Ranks that an edit loses where the suspected lines take their values from, elsewhere in their functions, in what the
function that is checked uses, anywhere else, and in what that function does not use."""

LONGEST = 1000
"""Characters of the longest edit: a longer one rewrites more than one mistake."""

GUIDED = 20_000
"""Edits that are held against known fixes: more take too long."""

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

UNUSED_GAIN, IDLE_GAIN = 2.0, 1.0
"""Ranks that an edit gains which uses a parameter that its function does not read, or such a variable: it was probably
forgotten."""

WRITES_LESS_GAIN = 3.0
"""Ranks that an edit gains which copies an input or writes into fewer values, where inputs are written into."""

KEPT_NAME_RANK = 1.5
"""Ranks that an edit loses which puts another name where an attribute keeps an argument of its own name."""

ORDER_RANK = 1
STEPS_BACK = 2


def repairs(source: str, lines: Sequence[int], most: int, clues: Clues = NO_CLUES) -> list[Edit]:
    """Return at most so many edits of a program, the likeliest first; `lines` are those that are suspected.

    Raises whatever `ast.parse` raises.
    """
    tree = ast.parse(source)
    text, guides = Text(source), Guides(clues.fixes, is_named=clues.is_named, variables=variables(tree))
    distances = _Distances.of(tree, lines, clues.of)
    ranked: dict[tuple[int, int, str], tuple[float, Edit]] = {}
    everywhere = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt)}
    for among in (everywhere - distances.unreached, distances.unreached):
        if len(ranked) >= most:
            break
        for rank, edit in _edits(tree, text, among):
            at = edit.start, edit.end, edit.text
            if len(edit.text) > LONGEST or source[edit.start : edit.end] == edit.text:
                continue
            rank += distances.to(edit.line)
            rank -= WRITES_LESS_GAIN * (clues.writes and writes_less(source[edit.start : edit.end], edit.text))
            if at not in ranked or ranked[at][0] > rank:
                ranked[at] = rank, edit
    found = sorted(ranked.values(), key=_rank)
    worst = found[:most][-1][0] + LIKE + JUST if found else 0.0  # what is ranked behind that stays behind the last one
    near = [(rank, edit) for rank, edit in found[:GUIDED] if rank <= worst]
    guided = [(rank - guides.gain(source[edit.start : edit.end], edit.text), edit) for rank, edit in near]
    return [edit for _, edit in sorted([*guided, *found[len(near) :]], key=_rank)[:most]]


def _rank(ranked: tuple[float, Edit]) -> float:
    return ranked[0]


@dataclass(frozen=True)
class _Distances:
    """How far lines are from those that are suspected, in ranks."""

    suspected: AbstractSet[int]
    related: AbstractSet[int]
    beside: AbstractSet[int]
    reached: AbstractSet[int]
    unreached: AbstractSet[int]

    @classmethod
    def of(cls, tree: ast.Module, lines: Sequence[int], checked: str | None) -> "_Distances":
        return cls({*lines}, _related(tree, lines), _beside(tree, lines), *_reached(tree, checked))

    def to(self, line: int) -> float:
        """Return the ranks that an edit of a line loses."""
        if line in self.unreached:
            return UNREACHED
        near = {0.0: self.suspected, RELATED: self.related, BESIDE: self.beside, REACHED: self.reached}
        return next((distance for distance, lines in near.items() if line in lines), AWAY)


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


def _reached(tree: ast.Module, of: str | None) -> tuple[set[int], set[int]]:
    """Return the lines of the functions and classes that the checked one uses, and those of all others; else nothing.

    One that is named by one that is used is used too.
    """
    own = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    reached, new = set[str](), {of.split(".")[0]} & own.keys() if of else set[str]()
    while new:
        reached |= new
        used = {part for name in new for node in ast.walk(own[name]) for part in _names(node, ast.Load)}
        new = (used & own.keys()) - reached
    lines: tuple[set[int], set[int]] = set(), set()
    for name, node in own.items() if reached else ():
        lines[name not in reached].update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


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


def _edits(tree: ast.Module, text: Text, lines: Collection[int]) -> Iterator[tuple[float, Edit]]:
    """Yield the edits of some lines, each with a rank that its place does not change."""
    scope = Scope(tree)
    for slot in [slot for slot in slots(tree) if _line(slot) in lines]:
        if isinstance(slot.parent, ast.JoinedStr | ast.FormattedValue) or isinstance(slot.node, ast.ClassDef):
            continue
        kept = KEPT_NAME_RANK * _keeps_its_name(slot)
        for operator, other in variants(slot, scope.imported):
            edit = text.replaced(slot, ast.fix_missing_locations(other))
            if edit is not None:
                yield kept + RANKS.get(operator, 0), edit
        if isinstance(slot.node, ast.expr) and not isinstance(slot.node, ast.Slice):
            span = text.span(slot.node)
            for rank, replacement in chain(additions(slot, scope), literals(slot, scope), regrouped(slot)):
                edit = Edit(slot.node.lineno, *span, replacement)
                forgotten = UNUSED_GAIN * _uses(replacement, slot.place.unused)
                yield kept + rank - max(forgotten, IDLE_GAIN * _uses(replacement, slot.place.idle)), edit
        elif isinstance(slot.node, ast.stmt):
            yield from _of_statement(slot.node, slot, scope, text)
    for first, second in pairs(tree):
        if getattr(first.node, "lineno", None) in lines:
            yield ORDER_RANK, text.exchanged(first.node, second.node)
    yield from ((rank, edit) for rank, edit in moved(tree, text) if edit.line in lines)


def _line(slot: Slot) -> int:
    """Return the line of a node, or of its statement: a part of a comprehension has none."""
    return getattr(slot.node, "lineno", slot.place.statement.lineno if slot.place.statement else 0)


def _keeps_its_name(slot: Slot) -> bool:
    """Return whether a node is the argument that an attribute of the same name keeps, as in `self.size = size`."""
    if not isinstance(slot.node, ast.Name) or slot.name != "value":
        return False
    parent = slot.parent
    targets = parent.targets if isinstance(parent, ast.Assign) else [getattr(parent, "target", None)]
    return any(isinstance(target, ast.Attribute) and target.attr == slot.node.id for target in targets)


def _uses(text: str, names: Sequence[str]) -> bool:
    return bool(names) and not set(re.findall(r"\w+", text)).isdisjoint(names)


def _of_statement(node: ast.stmt, slot: Slot, scope: Scope, text: Text) -> Iterator[tuple[float, Edit]]:
    for rank, line, before in insertions(slot, scope):
        yield rank, text.inserted(node, line, before=before)
    for rank, replacement in restated(node):
        yield rank, Edit(node.lineno, *text.span(node), replacement)
    yield from exchanged(slot, text)
    yield from on_one_device(slot, text)
    if isinstance(node, ast.FunctionDef):
        yield from exchanged_parameters(node, text)
        yield from exchanged_words(node, text)
