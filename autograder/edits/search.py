"""Find small edits that may mend a wrong program: what stands there replaced, or what is missing added.

The likeliest edits come first: those near the lines that are suspected, and those that mend common mistakes.
"""

import ast
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import TypeGuard

from autograder.protocol import first_line

from .insertions import (
    additions,
    exchanged,
    exchanged_words,
    insertions,
    literals,
    moved,
    on_one_device,
    regrouped,
    restated,
)
from .operators import variants
from .program import Edit, Scope, Slot, Text, pairs, slots

# What the fix of a known mistake looks like, so that edits like it are tried first.
#
# A fix is the words that it adds and removes, as short hashes: it orders edits, and is no text of the solution.

WORD = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?(?:e[+-]?\d+)?|\*\*|//|[=!<>]=|[-+*/%@&|~<>:]")
"""A word of a program. Brackets, commas, dots and quotes tell nothing that the other words do not tell."""

COMMENT = re.compile(r"#.*")

LIKE, JUST, SAME = 4.0, 2.0, 1.5
"""Ranks that an edit gains: at most for being like the fix of the mistake that the program has, beside that for being
just this fix, and for being that of any mistake."""

ORDER = "="
"""The fix that only changes the order of words, or names of the program's own. Many edits do no
more, so it says little beside another fix."""

_ORDERED = frozenset([ORDER])

HASH = 4
LONGEST_FIX = 24
"""Words of the longest fix that is kept: a longer one rewrites too much to be found among small edits."""


@dataclass(frozen=True)
class Clues:
    """What is known of a mistake, beside its lines: the `fixes` of known mistakes, and what is checked.

    With `is_named` the fixes are those of the mistakes that the program has by its outcomes, else of all known ones.
    `of` is the function or class that is checked, if it is one. With `writes` the program writes into its inputs.
    """

    fixes: tuple[str, ...] = ()
    is_named: bool = False
    of: str | None = None
    writes: bool = False


NO_CLUES = Clues()


class Guides:
    """Says how much an edit is like the fixes of known mistakes, as `Clues` has them.

    `variables` are the program's own names, of which no fix tells anything.
    """

    def __init__(self, fixes: Sequence[str], *, is_named: bool, variables: Iterable[str] = ()) -> None:
        self._fixes = [frozenset(fix.split()) for fix in fixes if fix]
        self._all = frozenset(self._fixes)
        self._is_named = is_named
        self._variables = frozenset(variables)
        self._words: dict[str, list[str]] = {}

    def gain(self, before: str, after: str) -> float:
        """Return how many ranks earlier an edit is to be tried, given the text before and after it."""
        if not self._fixes:
            return 0.0
        words = frozenset(_signed(self._of(before), self._of(after)) or [ORDER])
        if not self._is_named:
            return SAME if words in self._all else 0.0
        if words == _ORDERED and len(self._all) > 1:
            return SAME if _ORDERED in self._all else 0.0
        likeness = max(len(words & fix) / len(words | fix) for fix in self._fixes)
        return LIKE * likeness + (JUST if likeness == 1 and words != _ORDERED else 0.0)

    def _of(self, text: str) -> list[str]:
        if text not in self._words:
            code = COMMENT.sub("", text)
            self._words[text] = _words(code, self._variables)
        return self._words[text]


def writes_less(before: str, after: str) -> bool:
    """Return whether an edit copies what it did not copy, or writes into fewer values."""
    copies, writes = ([len(pattern.findall(text)) for text in (before, after)] for pattern in (_COPIES, _WRITES))
    return copies[0] < copies[1] or writes[0] > writes[1]


_COPIES = re.compile(r"\blist\(|\.clone\(|\bdeepcopy\(|\.copy\(")
_WRITES = re.compile(r"[a-z]_\(|[-+*/|&@]=|\.(?:append|extend|insert|sort|reverse)\(|\] = ")


def fix_of(wrong: str, right: str) -> str:
    """Return what turns a wrong program into the right one; empty if that is too many words.

    Raises whatever `ast.parse` raises.
    """
    before, after = _top_level(wrong), _top_level(right)
    shared = min(len(before), len(after))
    first = next((at for at in range(shared) if before[at] != after[at]), shared)
    last = next((at for at in range(shared - first) if before[-1 - at] != after[-1 - at]), shared - first)
    own = variables(before) | variables(after)
    # What both have before and after the change adds nothing, and to write it as text takes most of the time.
    changed = ("\n".join(part[first : len(part) - last]) for part in (before, after))
    found = _signed(*(_words(ast.unparse(ast.parse(text)), own) for text in changed))
    return " ".join(sorted(found)) or ORDER if len(found) <= LONGEST_FIX else ""


@lru_cache(maxsize=8)
def _top_level(text: str) -> list[str]:
    """Return the text of each statement at the top level of a program."""
    lines = text.split("\n")
    return ["\n".join(lines[first_line(node) - 1 : node.end_lineno]) for node in ast.parse(text).body]


def variables(parts: Iterable[str]) -> set[str]:
    """Return the names that functions of a program give to values of their own; a parameter has the contract's name."""
    names = [_stored_and_given(part) for part in parts]
    return set().union(*(stored for stored, _ in names)).difference(*(given for _, given in names))


@lru_cache(maxsize=64)
def _stored_and_given(text: str) -> tuple[set[str], set[str]]:
    """Return the names that the functions of a text assign to, and those of their parameters."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    names = {node.id for one in functions for node in ast.walk(one) if _is_stored(node)}
    return names, {argument.arg for one in functions for argument in (*one.args.args, *one.args.kwonlyargs)}


def _is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _words(code: str, variables: Collection[str]) -> list[str]:
    """Return the words of a code, but for these variables; 1.0 is the same word as 1."""
    words = (word for word in WORD.findall(code) if word not in variables)
    return [f"{float(word):g}" if word[0].isdigit() else word for word in words]


def _signed(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return the words that an edit adds and removes, each with its sign and as a hash."""
    change: dict[str, int] = {}
    for word in after:
        change[word] = change.get(word, 0) + 1
    for word in before:
        change[word] = change.get(word, 0) - 1
    return [f"{'+' if count > 0 else '-'}{_hash(word)}" for word, count in change.items() if count]


def word_hashes(code: str, variables: Collection[str]) -> frozenset[str]:
    """Return the hashes of the words of a code, but for these variables."""
    return frozenset(map(_hash, _words(COMMENT.sub("", code), variables)))


@cache
def _hash(word: str) -> str:
    return hashlib.sha256(word.encode()).hexdigest()[:HASH]


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
    text, guides = Text(source), Guides(clues.fixes, is_named=clues.is_named, variables=variables([source]))
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
        yield from exchanged_words(node, text)
