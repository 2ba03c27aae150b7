"""What the fix of a known mistake looks like, so that edits like it are tried first.

A fix is the words that it adds and removes, as short hashes: it orders edits, and is no text of the solution.
"""

import ast
import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeGuard

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
    own = variables(ast.parse(right)) | variables(ast.parse(wrong))
    words = [_words(_code(text), own) for text in (wrong, right)]
    found = _signed(*words)
    return " ".join(sorted(found)) or ORDER if len(found) <= LONGEST_FIX else ""


def variables(tree: ast.Module) -> set[str]:
    """Return the names that functions of a program give to values of their own; a parameter has the contract's name."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    names = {node.id for one in functions for node in ast.walk(one) if _is_stored(node)}
    return names - {argument.arg for one in functions for argument in (*one.args.args, *one.args.kwonlyargs)}


def _is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _code(text: str) -> str:
    """Return a program as Python writes it: without comments, and with one way to write a number."""
    return ast.unparse(ast.parse(text))


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


@cache
def _hash(word: str) -> str:
    return hashlib.sha256(word.encode()).hexdigest()[:HASH]
