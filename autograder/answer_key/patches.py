"""Finds the place of a patch in a program: by its text, or by its code where the program was reworded.

Code is compared lexeme by lexeme. White space, comments and line breaks inside brackets do not count, and a local name
may have become another one, if it did so everywhere.
"""

import ast
import builtins
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

_QUOTED = r"""(?:\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
_LEXEME = re.compile(
    r"(?P<space>[ \t\f\n]+|\\\n|\#[^\n]*)"
    rf"|(?P<fstring>(?:[fF][rR]?|[rR][fF]){_QUOTED})|(?P<string>[rRbBuU]{{0,2}}{_QUOTED})"
    r"|(?P<name>[^\W\d]\w*)|(?P<number>\.?\d[\w.]*)"
    r"|(?P<sign>\*\*=|//=|>>=|<<=|\.\.\.|\*\*|//|>>|<<|->|:=|[-+*/%&|^@=<>!]=|.)",
    re.DOTALL,
)
_EQUALS = re.compile(r"\s*=(?!=)")
_HOLE = re.compile(r"(\{[^{}]*\})")
_OPEN, _CLOSED = frozenset("([{"), frozenset(")]}")

Patch = tuple[str, str]
"""The text to find, and the one that replaces it."""


@dataclass(frozen=True)
class Lexeme:
    """A lexeme of code. `indent` is the width before it if it begins a line outside of brackets, and None if not.

    `depth` counts the brackets around it. A `name` may stand for a variable: it follows no dot, and names no argument.
    """

    text: str
    start: int
    end: int
    name: bool
    indent: int | None
    depth: int


def _lexemes(text: str) -> Iterator[Lexeme]:
    """Yield the lexemes of a program, or of a part of one. What stands in an f-string's braces are lexemes too."""
    depth, last = 0, ""
    for found in _LEXEME.finditer(text):
        if found.lastgroup == "space":
            continue
        start, word = found.start(), found.group()
        depth -= word in _CLOSED
        before = text[text.rfind("\n", 0, start) + 1 : start]
        indent = len(before) if not before.strip() and depth == 0 else None
        if found.lastgroup == "fstring":
            yield from _lexemes_of_fstring(found, indent, depth)
        else:
            named = depth > 0 and last in ("(", ",") and _EQUALS.match(text, found.end()) is not None
            name = found.lastgroup == "name" and last != "." and not named
            yield Lexeme(word, start, found.end(), name, indent, depth)
        depth += word in _OPEN
        last = word


def _lexemes_of_fstring(found: re.Match[str], indent: int | None, depth: int) -> Iterator[Lexeme]:
    at = found.start()
    for part in _HOLE.split(found.group()):
        if _HOLE.fullmatch(part):
            for one in _lexemes(part[1:-1]):
                yield Lexeme(one.text, at + 1 + one.start, at + 1 + one.end, one.name, None, depth + 1)
        elif part:
            yield Lexeme(part, at, at + len(part), False, indent, depth)
        at, indent = at + len(part), None


class _Code:
    """A program whose lexemes and names are known: many patches are looked for in the same one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lexemes = tuple(_lexemes(text))
        self.tree = ast.parse(text)

    @cached_property
    def functions(self) -> list[tuple[int, int, frozenset[str], frozenset[str]]]:
        """The place of each function in the text, the inner ones last, with its variables and all names in it."""
        starts = [0]
        for line in self.text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        found = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = [*ast.walk(node)]
                names = frozenset(one.id for one in inner if isinstance(one, ast.Name))
                stored = (one.id for one in inner if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
                own = frozenset([*stored, *(one.arg for one in inner if isinstance(one, ast.arg))])
                found.append((starts[node.lineno - 1], starts[node.end_lineno or node.lineno], own, names | own))
        return sorted(found, key=lambda one: (one[0], -one[1]))

    @cached_property
    def lasting(self) -> frozenset[str]:
        """Names that no rewording changes: those of Python, and those that the program imports or defines outside."""
        stored = (one.id for node in self.tree.body for one in _stored(node))
        defined = (node.name for node in self.tree.body if isinstance(node, _DEFINITION))
        imported = (name for node in ast.walk(self.tree) for name in _imported(node))
        return frozenset([*vars(builtins), *stored, *defined, *imported])

    def may_be(self, old: str, lexeme: Lexeme) -> bool:
        """Whether a lexeme is a local name that may have been called `old` before."""
        around = [one for one in self.functions if one[0] <= lexeme.start < one[1]]
        if not lexeme.name or not around or old in self.lasting:
            return False
        return any(lexeme.text in own for _, _, own, _ in around) and old not in around[0][3]


_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_code = lru_cache(maxsize=4)(_Code)


def _stored(node: ast.stmt) -> Iterator[ast.Name]:
    if not isinstance(node, _DEFINITION):
        yield from (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((one.asname or one.name).partition(".")[0] for one in node.names)


@dataclass(frozen=True)
class _Match:
    """A place that has the code of a patch: its first and last lexeme, and the new names by the old ones."""

    first: int
    last: int
    names: Mapping[str, str]


def located(patch: Patch, program: str) -> Patch | None:
    """Return the patch as it fits a program, where its text occurs once; None if it has no such place, or several.

    A text that occurs once is taken as it is. Else its code has to occur once. A text that cuts a word, as `words` cuts
    `words_left`, is taken only if its code has no place.
    """
    find, replace = patch
    count = program.count(find)
    if count > 1 or (count and not _cuts_a_word(find, program)):
        return patch if count == 1 else None
    otherwise = patch if count else None
    try:
        code = _code(program)
    except (SyntaxError, ValueError):
        return otherwise
    wanted = tuple(_lexemes(find))
    begins = find[:1].isspace()
    places = range(len(code.lexemes) - len(wanted) + 1) if wanted else ()
    matches = [found for at in places if (found := _match(code, wanted, at, begins)) is not None]
    moved = _moved(code, find, replace, wanted, matches[0]) if len(matches) == 1 else None
    return moved if moved is not None and _is_sound(moved, code) else otherwise


def _cuts_a_word(find: str, program: str) -> bool:
    """Whether the one place of a text begins or ends inside of a word."""
    start = program.find(find)
    ends = (program[max(start - 1, 0) : start + 1], program[start + len(find) - 1 : start + len(find) + 1])
    return any(re.fullmatch(r"\w\w", end) is not None for end in ends)


def _match(code: _Code, wanted: Sequence[Lexeme], at: int, begins: bool) -> _Match | None:
    """Return the match of some lexemes that begins at one of the program's; `begins` if white space is before them."""
    names: dict[str, str] = {}
    before: tuple[int, int] | None = None
    for index, lexeme in enumerate(wanted):
        here = code.lexemes[at + index]
        if here.text != lexeme.text and not (lexeme.name and code.may_be(lexeme.text, here)):
            return None
        if lexeme.name and here.name and names.setdefault(lexeme.text, here.text) != here.text:
            return None
        if index and here.depth == 0 and (lexeme.indent is None) != (here.indent is None):
            return None
        if (index or begins) and lexeme.indent is not None and here.indent is not None:
            if before is not None and _sign(lexeme.indent - before[0]) != _sign(here.indent - before[1]):
                return None
            before = lexeme.indent, here.indent
    if len(set(names.values())) < len(names):
        return None
    return _Match(at, at + len(wanted) - 1, {old: new for old, new in names.items() if old != new})


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _moved(code: _Code, find: str, replace: str, wanted: Sequence[Lexeme], match: _Match) -> Patch | None:
    """Return a patch in the words of a program: its names, and its indentation; None if its text is not unique there.

    It gets the rest of its lines if it is not unique without them.
    """
    text, first, last = code.text, code.lexemes[match.first], code.lexemes[match.last]
    start, end = first.start, last.end
    if find[:1].isspace():
        start -= len(text[:start]) - len(text[:start].rstrip(" \t\n" if "\n" in find[: wanted[0].start] else " \t"))
    if find[-1:].isspace():
        end += len(text[end:]) - len(text[end:].lstrip(" \t"))
        end += text.startswith("\n", end) and "\n" in find[wanted[-1].end :]
    shift = _shift(code, find, wanted, match)
    whole = first.indent is not None and find[:1].isspace()
    lines = _renamed(replace, match.names, first.depth > 0).split("\n")
    lines = [line if not at and not whole else _shifted(line, shift) for at, line in enumerate(lines)]
    moved = "\n".join(lines)
    if text.count(text[start:end]) > 1:
        begin, finish = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        finish = finish if finish >= 0 else len(text)
        moved, start, end = text[begin:start] + moved + text[end:finish], begin, finish
    return (text[start:end], moved) if text.count(text[start:end]) == 1 else None


def _shift(code: _Code, find: str, wanted: Sequence[Lexeme], match: _Match) -> int:
    """Return by how much the program is indented more than the text of a patch."""
    pairs = list(zip(wanted, code.lexemes[match.first : match.last + 1], strict=True))
    if not find[:1].isspace():
        pairs = pairs[1:]  # it begins in the middle of a line
    return next((here.indent - one.indent for one, here in pairs if None not in (one.indent, here.indent)), 0)  # type: ignore[operator]


def _shifted(line: str, shift: int) -> str:
    if not line.strip():
        return line
    width = len(line) - len(line.lstrip(" "))
    return " " * max(width + shift, 0) + line.lstrip(" ")


def _renamed(text: str, names: Mapping[str, str], in_brackets: bool) -> str:
    """Return code with new names in place of old ones; the name of an argument of a call is none of them."""
    parts, at, before = [], 0, ","
    for lexeme in _lexemes(text):
        is_argument = in_brackets and before == "," and _EQUALS.match(text, lexeme.end)
        before = lexeme.text
        if lexeme.name and lexeme.text in names and not is_argument:
            parts += [text[at : lexeme.start], names[lexeme.text]]
            at = lexeme.end
    return "".join([*parts, text[at:]])


def _is_sound(patch: Patch, code: _Code) -> bool:
    """Whether a patch gives a program that is another one, and uses no name that it lacks."""
    text = code.text.replace(*patch)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return ast.dump(tree) != ast.dump(code.tree) and lacking(tree) <= lacking(code.tree)


def lacking(tree: ast.Module) -> set[str]:
    """Return the names that a program uses and binds nowhere."""
    used, bound = set(), {*vars(builtins)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                used.add(name)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case _:
                bound.update(_imported(node))
    return used - bound
