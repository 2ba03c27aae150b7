"""The catalogue of misconceptions: named wrong programs, each a small patch of the solution's source."""

import ast
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import nearest, read_text, suggestion
from autograder.protocol import name_hash, statements

TEXTS = {"name": 80, "explanation": 240, "hint": 200}
"""The texts every misconception has, and their longest length."""

MORE_TEXTS = {"tempting": 240, "experiment": 400}
"""Texts a misconception may have, for its page: why it tempts, and how to see it."""

KEYS = (*TEXTS, *MORE_TEXTS, "convention", "destroys", "any_exception", "find", "replace", "patches", "same_as")
"""The keys of a misconception."""

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
    """

    id: str
    name: str
    explanation: str
    hint: str
    patches: tuple[tuple[str, str], ...]
    same_as: tuple[str, ...] = ()
    convention: str = ""
    any_exception: bool = False
    destroys: str = ""


class CatalogueError(Exception):
    """A catalogue that cannot be used; the message has a sentence for every mistake in it."""


def read_catalogue(file: Path, solution: str, *, parse: bool = True) -> tuple[WrongProgram, ...]:
    """Read a catalogue and prove that each of its patches fits the solution; a missing file is an empty catalogue.

    Each wrong program must be Python, too. Without `parse` that is not proved, which saves time.
    """
    entries = _entries(file)
    problems = [(id_, sentence) for id_, entry in entries.items() for sentence in _problems(entry, solution, parse)]
    problems += [(id_, f"same_as names {other}, which names it not") for id_, other in _one_sided(entries)]
    problems += [(id_, f"has the name of {other}; give each a name of its own") for id_, other in _same_names(entries)]
    _raise(file, problems)
    return tuple(
        WrongProgram(
            id_,
            entry["name"],
            entry["explanation"],
            entry["hint"],
            _patches(entry),
            _same_as(entry),
            entry.get("convention", ""),
            entry.get("any_exception", False),
            entry.get("destroys", ""),
        )
        for id_, entry in entries.items()
    )


def read_ported(file: Path, program: str, known: Collection[str]) -> dict[str, str]:
    """Return the wrong programs of a file that writes `known` misconceptions into another program, by their ids.

    A missing file has none. Raises `CatalogueError`.
    """
    entries = _entries(file)
    problems = [(id_, "no misconception has this id") for id_ in entries if id_ not in known]
    problems += [
        (id_, sentence) for id_, entry in entries.items() for sentence in _patch_problems(entry, program, "program")
    ]
    _raise(file, problems)
    return {id_: _applied(_patches(entry), program) for id_, entry in entries.items()}


def _raise(file: Path, problems: Iterable[tuple[str, str]]) -> None:
    """Raise `CatalogueError` for problems of misconceptions, by id, if there are any."""
    if listed := list(problems):
        lines = read_text(file).splitlines()
        raise CatalogueError("\n".join(f"{file}{_line_of(lines, id_)}: {id_}: {sentence}" for id_, sentence in listed))


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
        raise CatalogueError(f"{file}: {error}") from error


def patched(solution: str, misconception: WrongProgram) -> str:
    """Return the wrong program."""
    return _applied(misconception.patches, solution)


def _applied(patches: Iterable[tuple[str, str]], program: str) -> str:
    program = _with_plain_ends(program)
    for find, replace in patches:
        program = program.replace(find, replace)
    return program


def _with_plain_ends(text: str) -> str:
    """Return a text with the line ends of TOML: a file that Windows wrote has others, and its patches would not fit."""
    return text.replace("\r\n", "\n")


def marks_of(misconception: WrongProgram, solution: str) -> tuple[str, ...]:
    """Return the hashes of the statements that the wrong program has and the solution has not.

    An import, or the head of a new function, is not where a mistake is. The changed head of a function may be.
    """
    right = statements(ast.parse(solution))
    wrong = statements(ast.parse(patched(solution, misconception)))
    hashes, names = {one.hash for one in right}, {one.name for one in right if one.name}
    found = (one.hash for one in wrong if one.hash not in hashes and (one.runs or one.name in names))
    return tuple(dict.fromkeys(found))


def owners_of(misconception: WrongProgram, solution: str) -> tuple[str, ...]:
    """Return the functions and classes of the solution that the misconception changes, as hashes of their names."""
    right, wrong = (_definitions(text) for text in (solution, patched(solution, misconception)))
    return tuple(name_hash(name) for name, definition in right.items() if wrong.get(name) != definition)


def _definitions(text: str) -> dict[str, str]:
    nodes = ast.parse(text).body
    return {node.name: ast.dump(node) for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _patches(entry: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    patches = entry.get("patches", [entry])
    return tuple((_trimmed(patch["find"]), _trimmed(patch["replace"])) for patch in patches)


def _trimmed(text: str) -> str:
    return text.removesuffix("\n")


def _same_as(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(entry.get("same_as", ()))


def _problems(entry: Any, solution: str, parse: bool) -> Iterable[str]:
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
    if not isinstance(entry.get("any_exception", False), bool):
        yield "its any_exception is neither true nor false"
    otherwise = f"expected {', '.join(KEYS)}"
    for key in sorted(slips):
        yield f"has {key}, which means nothing here; {suggestion(key, KEYS, otherwise)}"
    if {"find", "replace", "patches"} & {near for near in slips.values() if near not in entry}:
        return
    unfit = list(_patch_problems(entry, solution, "solution"))
    yield from unfit or (_syntax_problems(entry, solution) if parse else ())


def _syntax_problems(entry: Any, solution: str) -> Iterable[str]:
    """Yield why a wrong program is no Python, with the line in the solution to which the patch leads."""
    try:
        ast.parse(_applied(_patches(entry), solution))
    except (SyntaxError, ValueError) as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)
        yield f"with its replace, the solution is no Python ({where}); correct its replace"


def _patch_problems(entry: Any, program: str, word: str) -> Iterable[str]:
    """Yield what is wrong with the patches of a program; `word` is what to call it."""
    if isinstance(entry, dict) and "patches" in entry and {"find", "replace"} & set(entry):
        yield "has find or replace beside patches, which has no effect; keep one of them"
    try:
        patches = _patches(entry)
    except (KeyError, TypeError, AttributeError):
        yield "needs find and replace, or patches = [{find = ..., replace = ...}]"
        return
    program = _with_plain_ends(program)
    for find, replace in patches:
        count = program.count(find) if find else 0
        if count != 1:
            yield f"its find occurs {count} times in the {word}, expected once: {find.strip()[:60]!r}"
        if find == replace:
            yield "its find and replace are the same"


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
