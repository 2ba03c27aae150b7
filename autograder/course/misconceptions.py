"""The texts of the misconceptions of a course, found by id without reading the whole catalogue."""

import difflib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .course import Course, Exercise
from .storage import read_text

CATALOGUE = "misconceptions.json"
"""A file beside the checks of a kit without solutions: the texts of every misconception by its id, and no code."""

_TABLE_LINE = re.compile(r"^\[([\w-]+)\][ \t]*(?:#.*)?$", re.MULTILINE)
_TEXTS = ("name", "explanation", "hint", "tempting", "experiment", "convention")
_MOST_SUGGESTIONS = 3


@dataclass(frozen=True)
class Described:
    """The texts of a misconception. `wrong` and `right` are the lines that differ between it and the solution.

    `convention` says whose convention it is, if it is one and no mistake.
    """

    id: str
    exercise: str
    name: str
    explanation: str
    hint: str = ""
    tempting: str = ""
    experiment: str = ""
    convention: str = ""
    wrong: tuple[str, ...] = ()
    right: tuple[str, ...] = ()


def describe(course: Course, misconception: str) -> Described | None:
    """Return the misconception of that id; None where the course has none."""
    for exercise, text in _catalogues(course):
        if any(header[1] == misconception for header in _TABLE_LINE.finditer(text)):
            fields = _fields(text, misconception)
            if not fields:
                return None
            file = course.solutions_dir / "misconceptions" / exercise.id / str(fields.get("program", ""))
            texts = _solution(course, exercise), _text(file) if file.suffix == ".py" else ""
            return _described(misconception, exercise.id, fields, *texts)
    fields = _catalogue(course).get(misconception)
    return _described(misconception, str(fields.get("exercise", "")), fields) if isinstance(fields, dict) else None


def nearest_ids(course: Course, misconception: str) -> list[str]:
    """Return the ids most similar to one that does not exist."""
    ids = [header[1] for _, text in _catalogues(course) for header in _TABLE_LINE.finditer(text)] or list(
        _catalogue(course)
    )
    containing = [id_ for id_ in ids if misconception and misconception in id_]
    # 0.5 instead of difflib's 0.6: ids are long, and three suggestions cost a reader little.
    return containing[:_MOST_SUGGESTIONS] or difflib.get_close_matches(
        misconception, ids, n=_MOST_SUGGESTIONS, cutoff=0.5
    )


def named_in(course: Course, exercise: Exercise, *, besides: str) -> dict[str, str]:
    """Return the names of the other misconceptions of an exercise, by id, without those that give the same results.

    Conventions are not among them.
    """
    found = entries_of(course, exercise) or {
        name: fields
        for name, fields in _catalogue(course).items()
        if isinstance(fields, dict) and fields.get("exercise") == exercise.id
    }
    same = {besides, *found.get(besides, {}).get("same_as", ())}
    return {
        name: str(fields["name"])
        for name, fields in found.items()
        if "name" in fields
        and "convention" not in fields
        and name not in same
        and besides not in fields.get("same_as", ())
    }


def entries_of(course: Course, exercise: Exercise) -> dict[str, dict[str, Any]]:
    """Return the tables of an exercise's catalogue, by id; none if there is no such file, or it cannot be read."""
    text = _text(course.solutions_dir / "misconceptions" / f"{exercise.id}.toml")
    return {name: fields for name, fields in _parsed(text).items() if isinstance(fields, dict)}


def catalogue(course: Course) -> dict[str, dict[str, str]]:
    """Return the catalogue for a kit without solutions: the texts of every misconception, and no code."""
    return {
        name: {"exercise": exercise.id, **{key: str(fields[key]) for key in _TEXTS if key in fields}}
        for exercise, text in _catalogues(course)
        for name, fields in _parsed(text).items()
        if isinstance(fields, dict)
    }


def _catalogues(course: Course) -> Iterator[tuple[Exercise, str]]:
    for exercise in course.exercises:
        file = course.solutions_dir / "misconceptions" / f"{exercise.id}.toml"
        text = _text(file)
        if text:
            yield exercise, text


def _catalogue(course: Course) -> Mapping[str, Any]:
    try:
        data = json.loads(_text(course.checks_dir / CATALOGUE) or "{}")
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _text(file: Path) -> str:
    try:
        return read_text(file)
    except (OSError, UnicodeDecodeError):
        return ""


def _solution(course: Course, exercise: Exercise) -> str:
    return _text(course.solutions_dir / exercise.file)


def _fields(text: str, name: str) -> Mapping[str, Any] | None:
    """Return one misconception of a catalogue. Its lines are parsed alone if possible: parsing them all is slow."""
    headers = list(_TABLE_LINE.finditer(text))
    index = next(index for index, header in enumerate(headers) if header[1] == name)
    end = headers[index + 1].start() if index + 1 < len(headers) else len(text)
    fields = _parsed(text[headers[index].start() : end]).get(name) or _parsed(text).get(name)
    return fields if isinstance(fields, dict) else None


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _described(name: str, exercise: str, fields: Mapping[str, Any], solution: str = "", program: str = "") -> Described:
    texts = {key: str(fields.get(key, "")) for key in _TEXTS}
    wrong: list[str] = []
    right: list[str] = []
    if "program" in fields and solution:
        right, wrong = _different(_code_lines(solution), _code_lines(program))
    for patch in fields.get("patches", [fields]):
        before, after = _changed_lines(patch, solution)
        right += before
        wrong += after
    return Described(name, exercise, **texts, wrong=tuple(wrong), right=tuple(right))


def _changed_lines(patch: Mapping[str, Any], solution: str) -> tuple[list[str], list[str]]:
    """Return the lines of the solution that a patch changes, before and after the patch."""
    find, replace = (str(patch.get(key, "")).removesuffix("\n") for key in ("find", "replace"))
    offset = solution.find(find) if find else -1
    if offset < 0:
        return [], []
    begin, end = solution.rfind("\n", 0, offset) + 1, solution.find("\n", offset + len(find))
    end = end if end >= 0 else len(solution)
    before = solution[begin:end].split("\n")
    after = (solution[begin:offset] + replace + solution[offset + len(find) : end]).split("\n")
    return _different(before, after)


def _code_lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]


def _different(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """Return the lines that only one of two texts has."""
    opcodes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changes = [opcode for opcode in opcodes if opcode[0] != "equal"]
    return (
        [line for _, start, stop, _, _ in changes for line in before[start:stop] if line.strip()],
        [line for _, _, _, start, stop in changes for line in after[start:stop] if line.strip()],
    )
