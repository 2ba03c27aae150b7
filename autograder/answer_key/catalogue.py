"""The catalogue of misconceptions: named wrong programs, each a small patch of the solution's source."""

import ast
import builtins
import json
import os
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from autograder.course import nearest, read_text, suggestion
from autograder.edits import variables, word_hashes
from autograder.protocol import (
    Statement,
    bound_names,
    definitions_of,
    first_line,
    function_definitions,
    name_hash,
    nodes_of,
    parameters_of,
    statements,
    words_of,
)

# Finds the place of a patch in a program: by its text, or by its code where the program was reworded.
#
# Code is compared lexeme by lexeme. White space, comments and line breaks inside brackets do not count, and a local
# name may have become another one, if it did so everywhere.

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


_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class _Program:
    """A program that is parsed once: every misconception of an exercise is held against the same solution."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.tree = ast.parse(text)
        self.definitions = definitions_of(self.tree)

    @cached_property
    def lexemes(self) -> Sequence[Lexeme]:
        return tuple(_lexemes(self.text))

    @cached_property
    def starts(self) -> Sequence[int]:
        """Where each line begins in the text, and where a line after the last one would."""
        return [0, *accumulate(len(line) + 1 for line in self.lines)]

    @cached_property
    def prose(self) -> Sequence[tuple[int, int]]:
        """The places of comments and docstrings in the text: a lesson may show the code that a patch changes."""
        comments = [one.span() for one in _LEXEME.finditer(self.text) if one.group().startswith("#")]
        return comments + [
            (self.starts[node.lineno - 1], self.starts[node.end_lineno or node.lineno])
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        ]

    def places(self, find: str) -> list[int]:
        """Return where a text begins, without what is only shown or said there."""
        skipped, last = len(find) - len(find.lstrip()), len(find.rstrip())
        found = [one.start() for one in re.finditer(re.escape(find), self.text)] if find else []
        return [at for at in found if not any(start <= at + skipped and at + last <= end for start, end in self.prose)]

    @cached_property
    def scopes(self) -> list[tuple[int, int, frozenset[str], frozenset[str]]]:
        """The place of each function in the text, the inner ones last, with its variables and all names in it."""
        starts, found = self.starts, []
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
        imported = bound_names(node for node in ast.walk(self.tree) if isinstance(node, ast.alias))
        return frozenset([*vars(builtins), *stored, *defined, *imported])

    def may_be(self, old: str, lexeme: Lexeme) -> bool:
        """Whether a lexeme is a local name that may have been called `old` before."""
        around = [one for one in self.scopes if one[0] <= lexeme.start < one[1]]
        if not lexeme.name or not around or old in self.lasting:
            return False
        return any(lexeme.text in own for _, _, own, _ in around) and old not in around[0][3]

    @cached_property
    def statements(self) -> Sequence[Statement]:
        return statements(self.tree)

    @cached_property
    def functions(self) -> Sequence[tuple[str, int, int]]:
        """The functions and methods, with their first and last lines."""
        found = function_definitions(self.tree)
        return [(name, node.lineno, node.end_lineno or node.lineno) for name, node in found]

    @cached_property
    def codes(self) -> Sequence[tuple[int, str]]:
        """The first line of each statement that runs, and its code."""
        return [
            (one.line, "\n".join(line.split("  #")[0].strip() for line in self.lines[one.line - 1 : one.last]))
            for one in self.statements
            if one.runs
        ]

    def changes(self, other: "_Program") -> list[str]:
        """Return the functions and classes that another program lacks, or has in another way."""
        return [name for name in self.definitions if not self._is_same(other, name)]

    def _is_same(self, other: "_Program", name: str) -> bool:
        own, theirs = self.definitions[name], other.definitions.get(name)
        return theirs is not None and (self._text(own) == other._text(theirs) or ast.dump(own) == ast.dump(theirs))

    def _text(self, node: ast.stmt) -> list[str]:
        return self.lines[first_line(node) - 1 : node.end_lineno]


_program = lru_cache(maxsize=8)(_Program)


def _stored(node: ast.stmt) -> Iterator[ast.Name]:
    if not isinstance(node, _DEFINITION):
        yield from (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))


@dataclass(frozen=True)
class _Match:
    """A place that has the code of a patch: its first and last lexeme, and the new names by the old ones."""

    first: int
    last: int
    names: Mapping[str, str]


def located(patch: Patch, program: str) -> Patch | None:
    """Return the patch as it fits a program, where its text occurs once; None if it has no such place, or several.

    A text that occurs once in code is taken as it is, or with whole lines if a comment or a docstring has it too. Else
    its code has to occur once. A text that cuts a word, as `words` cuts `words_left`, is taken only if its
    code has no place.
    """
    find, replace = patch
    count = program.count(find)
    otherwise = patch if count == 1 else None
    try:
        code = _program(program)
    except (SyntaxError, ValueError):
        return otherwise
    places = code.places(find)
    if len(places) > 1 or (count > 1 and not places):
        return None
    if places and count > 1:
        return _extended(code, places[0], places[0] + len(find), replace)
    if places and not _cuts_a_word(find, program):
        return patch
    wanted = tuple(_lexemes(find))
    begins = find[:1].isspace()
    starts = range(len(code.lexemes) - len(wanted) + 1) if wanted else ()
    matches = [found for at in starts if (found := _match(code, wanted, at, begins)) is not None]
    moved = _moved(code, find, replace, wanted, matches[0]) if len(matches) == 1 else None
    sound = moved is not None and _is_sound(moved, code) and not (count and moved[0] in find)
    return moved if sound else otherwise


def _places(find: str, program: str) -> list[int]:
    """Return where a text begins in the code of a program."""
    with suppress(SyntaxError, ValueError):
        return _program(program).places(find)
    return [one.start() for one in re.finditer(re.escape(find), program)] if find else []


def _cuts_a_word(find: str, program: str) -> bool:
    """Whether the one place of a text begins or ends inside of a word."""
    start = program.find(find)
    ends = (program[max(start - 1, 0) : start + 1], program[start + len(find) - 1 : start + len(find) + 1])
    return any(re.fullmatch(r"\w\w", end) is not None for end in ends)


def _match(code: _Program, wanted: Sequence[Lexeme], at: int, begins: bool) -> _Match | None:
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


def _moved(code: _Program, find: str, replace: str, wanted: Sequence[Lexeme], match: _Match) -> Patch | None:
    """Return a patch in the words of a program: its names, and its indentation."""
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
    return _extended(code, start, end, "\n".join(lines))


def _extended(code: _Program, start: int, end: int, replace: str) -> Patch | None:
    """Return the patch of a place in a program, with as many whole lines as make its text unique; None if none do."""
    text = code.text
    if text.count(text[start:end]) > 1:
        begin, finish = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        finish = finish if finish >= 0 else len(text)
        while begin and text.count(text[begin:finish]) > 1:
            begin = text.rfind("\n", 0, begin - 1) + 1
        replace, start, end = text[begin:start] + replace + text[end:finish], begin, finish
    return (text[start:end], replace) if text.count(text[start:end]) == 1 else None


def _shift(code: _Program, find: str, wanted: Sequence[Lexeme], match: _Match) -> int:
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


def _is_sound(patch: Patch, code: _Program) -> bool:
    """Whether a patch gives a program that is another one, and uses no name that it lacks."""
    text = code.text.replace(*patch)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return ast.dump(tree) != ast.dump(code.tree) and lacking(tree) <= lacking(code.tree)


def lacking(tree: ast.Module) -> set[str]:
    """Return the names that a program uses and binds nowhere."""
    nodes = nodes_of(tree)
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return used - bound_names(nodes) - vars(builtins).keys()


# The entries of the catalogue.

TEXTS = {"name": 80, "explanation": 240, "hint": 200}
"""The texts every misconception has, and their longest length."""

MORE_TEXTS = {"tempting": 240, "experiment": 400}
"""Texts a misconception may have, for its page: why it tempts, and how to see it."""

KEYS = (
    *TEXTS,
    *MORE_TEXTS,
    *("convention", "destroys", "any_exception", "when", "without_idea"),
    *("find", "replace", "patches", "program", "same_as"),
)

LONGEST_CONVENTION = 60
"""Characters of `convention`, which says whose it is."""

LONGEST_REASON = 160
"""Characters of `destroys`."""

HERE = "this course"
"""Words of the explanation of a convention, which says what the course has instead."""


@dataclass(frozen=True)
class WrongProgram:
    """A wrong program that learners write. `same_as` names those no output can tell from it.

    With `convention` it is no mistake, but the convention of those that it names, where the course has another one.
    `destroys` says why it may cost most points of the exercise: what of the idea is left.
    With `any_exception` its name is true of every program that raises in the same checks, whatever the exception is.
    `when` has words that the code must use for the name to be true of it, and words that it must not use after `not`.
    With `of_result` its texts say only what comes out: they are true of every program with the same results.
    With `without_idea` it does everything but what the exercise is about, so it must earn little.

    It is the solution with `patches`, or a whole `program` that stands in a file of its own. `moved` says that a patch
    has another text in the catalogue: the solution was reworded since.
    """

    id: str
    name: str
    explanation: str
    hint: str
    patches: tuple[tuple[str, str], ...]
    same_as: tuple[str, ...] = ()
    convention: str = ""
    any_exception: bool = False
    when: tuple[str, ...] = ()
    of_result: bool = False
    without_idea: bool = False
    destroys: str = ""
    program: str = ""
    moved: bool = False


class CatalogueError(Exception):
    """A catalogue that cannot be used; the message has a sentence for every mistake in it."""


def read_catalogue(
    file: Path, solution: str, *, parse: bool = True, unfit: list[str] | None = None
) -> tuple[WrongProgram, ...]:
    """Read a catalogue and prove that each of its patches fits the solution; a missing file is an empty catalogue.

    Each wrong program must be Python, too. Without `parse` that is not proved, which saves time. Raises
    `CatalogueError` for mistakes; with `unfit`, a list, it gets their sentences, and what has one is left out.
    """
    entries = _entries(file)
    fitted = {id_: _Fitted(file, entry, solution) for id_, entry in entries.items()}
    problems = [(id_, sentence) for id_, one in fitted.items() for sentence in _problems(one, parse)]
    broken = {id_ for id_, _ in problems}
    problems += [(id_, f"same_as names {other}, which names it not") for id_, other in _one_sided(entries)]
    problems += [(id_, f"has the name of {other}; give each a name of its own") for id_, other in _same_names(entries)]
    if unfit is None:
        _raise(file, problems)
    else:
        unfit += _sentences(file, problems)
    kept = (*TEXTS, "convention", "any_exception", "without_idea", "destroys")
    return tuple(
        WrongProgram(
            id_,
            patches=fitted[id_].patches,
            same_as=_same_as(entry),
            when=() if entry.get("when") == RESULT else tuple(entry.get("when", ())),
            of_result=entry.get("when") == RESULT,
            program=fitted[id_].program,
            moved=fitted[id_].moved,
            **{key: entry[key] for key in kept if key in entry},
        )
        for id_, entry in entries.items()
        if id_ not in broken
    )


def read_ported(file: Path, program: str, known: Collection[str]) -> dict[str, str]:
    """Return the wrong programs of a file that writes `known` misconceptions into another program, by their ids.

    A missing file has none. Raises `CatalogueError`.
    """
    entries = _entries(file)
    problems = [(id_, "no misconception has this id") for id_ in entries if id_ not in known]
    fitted = {id_: _Fitted(file, entry, program) for id_, entry in entries.items()}
    problems += [(id_, sentence) for id_, one in fitted.items() for sentence in _patch_problems(one, "program")]
    _raise(file, problems)
    return {id_: one.text for id_, one in fitted.items()}


def _raise(file: Path, problems: Iterable[tuple[str, str]]) -> None:
    if sentences := _sentences(file, problems):
        raise CatalogueError("\n".join(sentences))


def _sentences(file: Path, problems: Iterable[tuple[str, str]]) -> list[str]:
    lines = read_text(file).splitlines() if file.is_file() else []
    return [f"{os.path.relpath(file)}{_line_of(lines, id_)}: {id_}: {sentence}" for id_, sentence in problems]


def _line_of(lines: Sequence[str], id_: str) -> str:
    """Return where the table of a misconception begins, as it follows the name of a file."""
    headers = {f"[{id_}]", f'["{id_}"]'}
    at = next((at for at, line in enumerate(lines, 1) if line.partition("#")[0].strip() in headers), None)
    return f", line {at}" if at is not None else ""


def _entries(file: Path) -> Mapping[str, Any]:
    """Return the tables of a file; a missing file has none. Raises `CatalogueError`."""
    try:
        return tomllib.loads(read_text(file)) if file.is_file() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogueError(f"{os.path.relpath(file)}: {error}") from error


def patched(solution: str, misconception: WrongProgram) -> str:
    """Return the wrong program."""
    return misconception.program or _applied(misconception.patches, solution)


@dataclass(frozen=True)
class _Fitted:
    file: Path
    entry: Any
    solution: str

    @cached_property
    def patches(self) -> tuple[Patch, ...]:
        """The patches in the words of the solution: one that has no place there is as the catalogue has it."""
        if self.is_program:
            return ()
        return tuple(located(patch, self.base) or patch for patch in _patches(self.entry))

    @cached_property
    def base(self) -> str:
        return _with_plain_ends(self.solution)

    @property
    def is_program(self) -> bool:
        return isinstance(self.entry, dict) and "program" in self.entry

    @property
    def moved(self) -> bool:
        if self.is_program:
            return False
        pairs = zip(_patches(self.entry), self.patches, strict=True)
        return any(find != fitted and self.base.count(find) <= 1 for (find, _), (fitted, _) in pairs)

    @cached_property
    def program(self) -> str:
        """The text of the file that the entry names; "" if it names none. Raises OSError and UnicodeDecodeError."""
        return read_text(programs_of(self.file) / self.entry["program"]) if self.is_program else ""

    @property
    def text(self) -> str:
        return self.program or _applied(self.patches, self.solution)


def programs_of(catalogue: Path) -> Path:
    """Return the folder beside a catalogue that has whole wrong programs, each in a file that an entry names."""
    return catalogue.with_suffix("")


def _applied(patches: Iterable[tuple[str, str]], program: str) -> str:
    program = _with_plain_ends(program)
    for find, replace in patches:
        program = program.replace(find, replace)
    return program


def _with_plain_ends(text: str) -> str:
    """Return a text with the line ends of TOML: a file that Windows wrote has others, and its patches would not fit."""
    return text.replace("\r\n", "\n")


def unknown_names(misconception: WrongProgram, solution: str) -> list[str]:
    """Return the names that a wrong program uses and binds nowhere, unlike the solution: they raise a NameError."""
    known = set(_WORD.findall(solution)) | set(vars(builtins))
    if not misconception.program and all(known.issuperset(_WORD.findall(text)) for _, text in misconception.patches):
        return []
    wrong, right = _program(patched(solution, misconception)), _program(solution)
    return sorted(lacking(wrong.tree) - lacking(right.tree))


def marks_of(misconception: WrongProgram, solution: str) -> tuple[str, ...]:
    """Return the hashes of the statements that the wrong program has and the solution has not.

    An import, or the head of a new function, is not where a mistake is. The changed head of a function may be.
    """
    right, wrong = _program(solution).statements, _program(patched(solution, misconception)).statements
    hashes, names = {one.hash for one in right}, {one.name for one in right if one.name}
    found = (one.hash for one in wrong if one.hash not in hashes and (one.runs or one.name in names))
    return tuple(dict.fromkeys(found))


def wording_of(misconception: WrongProgram, solution: str) -> tuple[str, ...]:
    """Return the words of each statement that only the wrong program has, as short hashes behind that of its function.

    Unlike in `marks_of`, a statement with another variable is another one.
    """
    text = patched(solution, misconception)
    right, wrong, own = _program(solution), _program(text), variables([solution, text])
    known, found = {code for _, code in right.codes}, []
    for line, code in wrong.codes:
        function = next((name for name, first, last in wrong.functions if first < line <= last), None)
        if code not in known and function is not None:
            found.append(" ".join([name_hash(function), *sorted(word_hashes(code, own))]))
    return tuple(dict.fromkeys(found))


def owners_of(misconception: WrongProgram, solution: str) -> tuple[str, ...]:
    """Return the functions and classes of the solution that the misconception changes, as hashes of their names."""
    return tuple(map(name_hash, _program(solution).changes(_program(patched(solution, misconception)))))


NOT = "not "
"""Begins an entry of `when`: the code must not use the word behind it."""

RESULT = "result"
"""In place of the words of `when`: the texts are true of every program with the same results."""

_PROGRAM = re.compile(r"[\w-]+\.py")
_WORD = re.compile(r"[A-Za-z_]\w*")
_CODE = re.compile(r"`([^`]+)`")


def contract_of(stub: str) -> frozenset[str]:
    """Return the names that a stub gives to parameters and attributes: every program for it has the same ones."""
    parsed = ast.parse(stub)
    nodes = nodes_of(parsed)
    quoted = (code for node in nodes if isinstance(node, ast.Constant) for code in _CODE.findall(str(node.value)))
    attributes = set(_own_attributes(nodes))
    return frozenset(parameters_of(parsed) | attributes | {word for code in quoted for word in _WORD.findall(code)})


BY_MODE = "training If"
"""A word of code that does another thing in training: a name that knows nothing of it is only half true."""


class Condition(NamedTuple):
    """The words that code must use, and those that it must not use, for a name to be true of it; as hashes."""

    uses: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()

    def using(self, word: str) -> "Condition":
        """Return the condition with one more word that the code must use."""
        return Condition(self.uses | {name_hash(word)}, self.lacks)

    def holds(self, words: Collection[str]) -> bool:
        """Whether code with the words of these hashes may be what the name says."""
        return self.uses <= set(words) and not self.lacks & set(words)


ANY = Condition()
"""The condition that holds for every code."""


def condition_of(misconception: WrongProgram, solution: str, contract: Collection[str]) -> Condition:
    """Return the condition of a misconception: what it states itself, and what follows from its name and its patch.

    A name that speaks of a parameter or attribute of the contract, or of a call, is true only of code that uses it, or
    does not use it, as the wrong program does. If the wrong program no longer does something to a parameter that its
    name speaks of, the name is false of code that does.
    """
    right, wrong = _program(solution), _program(patched(solution, misconception))
    before = right.definitions
    changed = [name for name in right.changes(wrong) if name in wrong.definitions]
    had, has = (_words_in(program, changed) for program in (right, wrong))
    parameters = set().union(*(parameters_of(before[name]) for name in changed))
    attributes = {attribute for name in changed for attribute in _own_attributes(nodes_of(before[name]))}
    local = {node.id for node in nodes_of(wrong.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own = (parameters | attributes) & set(contract)
    said = set(_WORD.findall(misconception.name)) & own
    said |= {word for code in _CODE.findall(misconception.name) for word in _WORD.findall(code)} - (local - own)
    uses, lacks = said & has, said & (had - has)
    for name in said & own:
        lost, gained = (
            {word for word in one - other if word.startswith(f"{name} ")} for one, other in ((had, has), (has, had))
        )
        lacks |= lost if not gained else set()
    if BY_MODE not in has:
        lacks.add(BY_MODE)
    for word in misconception.when:
        (lacks if word.startswith(NOT) else uses).add(word.removeprefix(NOT))
    return Condition(frozenset(map(name_hash, uses)), frozenset(map(name_hash, lacks)))


def _words_in(program: _Program, owners: Iterable[str]) -> set[str]:
    parts: list[ast.stmt] = [program.definitions[owner] for owner in owners]
    return set().union(*words_of(ast.Module(parts, [])).values())


def _own_attributes(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                yield name


def _patches(entry: Mapping[str, Any]) -> tuple[Patch, ...]:
    patches = entry.get("patches", [entry])
    return tuple((patch["find"].removesuffix("\n"), patch["replace"].removesuffix("\n")) for patch in patches)


def _same_as(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(entry.get("same_as", ()))


def _problems(fitted: _Fitted, parse: bool) -> Iterable[str]:
    entry = fitted.entry
    if not isinstance(entry, dict):
        yield "is no table; write [id] above its name, explanation, hint, find and replace"
        return
    slips = {key: nearest(key, KEYS) for key in entry if key not in KEYS}
    for key, longest in TEXTS.items():
        text = entry.get(key)
        if key not in entry and key in slips.values():
            continue  # it is there, misspelt
        if not isinstance(text, str) or not text.strip():
            yield f"has no {key}"
        elif len(text) > longest:
            yield f"its {key} has {len(text)} characters, at most {longest} fit"
    for key, longest in MORE_TEXTS.items():
        if key in entry and not (isinstance(entry[key], str) and 0 < len(entry[key]) <= longest):
            yield f"its {key} is no text of 1 to {longest} characters"
    yield from _convention_problems(entry)
    reason = entry.get("destroys", "a reason")
    if not (isinstance(reason, str) and 0 < len(reason.strip()) <= LONGEST_REASON):
        yield f"its destroys is no text of 1 to {LONGEST_REASON} characters that says what is left of the idea"
    for key in ("any_exception", "without_idea"):
        if not isinstance(entry.get(key, False), bool):
            yield f"its {key} is neither true nor false"
    when = entry.get("when", [])
    if when != RESULT and not (isinstance(when, list) and all(isinstance(word, str) and word.strip() for word in when)):
        yield f'its when is no list of words; write when = ["word", "not word"], or when = "{RESULT}"'
    otherwise = f"expected {', '.join(KEYS)}"
    for key in sorted(slips):
        yield f"has {key}, which means nothing here; {suggestion(key, KEYS, otherwise)}"
    if {"find", "replace", "patches", "program"} & {near for near in slips.values() if near not in entry}:
        return
    unfit = list(_patch_problems(fitted, "solution"))
    if not unfit and parse:
        unfit = list(_syntax_problems(fitted)) or list(_condition_problems(fitted))
    yield from unfit


def _condition_problems(fitted: _Fitted) -> Iterable[str]:
    """Yield why the words of `when` do not tell a wrong program from the solution."""
    when = fitted.entry.get("when", ())
    if not when or when == RESULT:
        return
    right, wrong = (words_of(ast.parse(text)) for text in (fitted.solution, fitted.text))
    has, had = (set().union(*words.values()) for words in (wrong, right))
    for word in when:
        if (word.removeprefix(NOT) in has) == word.startswith(NOT):
            yield f"its when says {word!r}, which is false of its own program"
    if when and all((word.removeprefix(NOT) in had) != word.startswith(NOT) for word in when):
        yield "its when is true of the solution too; name a word that only one of the two uses"


def _syntax_problems(fitted: _Fitted) -> Iterable[str]:
    """Yield why a wrong program is no Python, with the line in the solution to which the patch leads."""
    try:
        ast.parse(fitted.text)
    except (SyntaxError, ValueError) as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)
        if fitted.is_program:
            yield f"its program {fitted.entry['program']} is no Python ({where}); correct it"
            return
        yield f"with its replace, the solution is no Python ({where}); correct its replace"


def _program_problems(fitted: _Fitted) -> Iterable[str]:
    """Yield why the file of a whole wrong program cannot be read."""
    name, folder = fitted.entry["program"], programs_of(fitted.file).name
    if {"find", "replace", "patches"} & set(fitted.entry):
        yield "has find, replace or patches beside program, which have no effect; keep one of them"
    if not isinstance(name, str) or not _PROGRAM.fullmatch(name):
        yield f'its program is {name!r}, expected the name of a file in {folder}/, like "{fitted.file.stem[5:]}.py"'
        return
    try:
        empty = not fitted.program.strip()
    except FileNotFoundError:
        there = sorted(file.name for file in programs_of(fitted.file).glob("*.py"))
        yield f"its program {folder}/{name} is missing; {suggestion(name, there, 'write it there')}"
    except (OSError, UnicodeDecodeError) as error:
        yield f"its program {folder}/{name} cannot be read ({error}); save it as a text in UTF-8"
    else:
        if empty:
            yield f"its program {folder}/{name} is empty; write the whole wrong program there"


def _patch_problems(fitted: _Fitted, word: str) -> Iterable[str]:
    """Yield what is wrong with the patches of a program, or with its file; `word` is what to call what is patched."""
    entry = fitted.entry
    if fitted.is_program:
        yield from _program_problems(fitted)
        return
    if isinstance(entry, dict) and "patches" in entry and {"find", "replace"} & set(entry):
        yield "has find or replace beside patches, which has no effect; keep one of them"
    try:
        patches = fitted.patches
    except (KeyError, TypeError, AttributeError):
        yield "needs find and replace, or patches = [{find = ..., replace = ...}], or program"
        return
    program = fitted.base
    for find, replace in patches:
        if program.count(find) != 1:
            places = _places(find, program) or [one.start() for one in re.finditer(re.escape(find), program) if find]
            lines = dict.fromkeys(str(program.count("\n", 0, at) + 1) for at in places)
            listed = f"; see line {', '.join([*lines][:MOST_LINES])}{', ...' * (len(lines) > MOST_LINES)}"
            near = listed if lines else _nearest_line(find, program)
            yield f"its find occurs {len(places)} times in the {word}, expected once: {find.strip()[:60]!r}{near}"
        if find == replace:
            yield "its find and replace are the same"


MOST_LINES = 5
"""Lines named of a text that occurs too often."""


def _nearest_line(find: str, program: str) -> str:
    """Return the line of a program that is most like the first line of `find`, as the end of a sentence about it."""
    wanted = next((line.strip() for line in find.splitlines() if line.strip()), "")
    lines = [(number, line.strip()) for number, line in enumerate(program.splitlines(), 1)]
    near = get_close_matches(wanted, [line for _, line in lines], 1)
    found = next((number for number, line in lines if near and line == near[0]), 0)
    return f"; the nearest line is {found}: {near[0][:80]!r}" if near else ""


def _convention_problems(entry: Mapping[str, Any]) -> Iterable[str]:
    whose = entry.get("convention", "others")
    if not (isinstance(whose, str) and 0 < len(whose.strip()) <= LONGEST_CONVENTION):
        yield f"its convention is no text of 1 to {LONGEST_CONVENTION} characters that says whose it is"
    if "convention" in entry and HERE not in str(entry.get("explanation", "")).lower():
        yield 'its explanation does not say what the course has instead; write "This course ..."'


def _one_sided(entries: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for id_, entry in entries.items():
        for other in _same_as(entry) if isinstance(entry, dict) else ():
            if id_ not in _same_as(entries.get(other, {})):
                yield id_, other


def _same_names(entries: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Yield the id of each entry whose name an earlier one has, and the id of that one."""
    first: dict[str, str] = {}
    for id_, entry in entries.items():
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str):
            if name in first:
                yield id_, first[name]
            first.setdefault(name, id_)


# The checks that each misconception of an exercise fails, beside its catalogue: so a wrong program is only run where it
# may be the mistake. `course validate` writes it. The digest says what it was found for.

SOMETIMES = "?"
"""Follows a check that a misconception fails under some seeds only."""


class Failing(NamedTuple):
    """The checks that a misconception fails, whatever the seed, and those that it fails under some seeds only."""

    always: frozenset[str] = frozenset()
    sometimes: frozenset[str] = frozenset()

    def widened(self, failed: Collection[str]) -> "Failing":
        """Return what is so after a run under another seed, in which it failed these checks."""
        sometimes = self.sometimes | (self.always ^ frozenset(failed))
        return Failing(self.always - sometimes, sometimes)


def read_failing(file: Path, digest: str | None = None) -> dict[str, Failing]:
    """Return which checks each misconception fails; nothing of a file that is missing, damaged or of another digest."""
    try:
        data = json.loads(read_text(file))
        if digest not in (None, data["digest"]):
            return {}
        return {id_: _failing(checks) for id_, checks in data["fails"].items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


def _failing(checks: Iterable[str]) -> Failing:
    sometimes = {check for check in checks if check.endswith(SOMETIMES)}
    always = frozenset(checks) - sometimes
    return Failing(always, frozenset(check.removesuffix(SOMETIMES) for check in sometimes))


def failing_text(digest: str, failing: Mapping[str, Failing]) -> str:
    """Return the text of a file that `read_failing` reads: a line for each misconception."""
    rows = {
        id_: sorted([*one.always, *(f"{check}{SOMETIMES}" for check in one.sometimes)]) for id_, one in failing.items()
    }
    lines = ",\n".join(f"  {json.dumps(id_)}: {json.dumps(checks)}" for id_, checks in rows.items())
    return f'{{"digest": {json.dumps(digest)},\n "fails": {{\n{lines}\n}}}}\n'
