"""The misconceptions of a course as pages to read: found by id, without reading the whole catalogue."""

import difflib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course.model import Course, Exercise

CATALOGUE = "misconceptions.json"
"""Beside the checks of a kit without solutions: the texts of every misconception by its id, and no code."""

_NAME_LINE = re.compile(r"^\[([\w-]+)\][ \t]*(?:#.*)?$", re.MULTILINE)
_TEXTS = ("name", "explanation", "hint", "tempting", "experiment")
_NEAR = 3


@dataclass(frozen=True)
class Described:
    """The texts of a misconception. `wrong` and `right` are the lines in which it differs from the solution."""

    id: str
    exercise: str
    name: str
    explanation: str
    hint: str = ""
    tempting: str = ""
    experiment: str = ""
    wrong: tuple[str, ...] = ()
    right: tuple[str, ...] = ()


def describe(course: Course, misconception: str) -> Described | None:
    """Return the misconception of that id; None where the course has none."""
    for exercise, text in _catalogues(course):
        if any(found[1] == misconception for found in _NAME_LINE.finditer(text)):
            entry = _entry(text, misconception)
            return _described(misconception, exercise.id, entry, _solution(course, exercise)) if entry else None
    entry = _catalogue(course).get(misconception)
    return _described(misconception, str(entry.get("exercise", "")), entry, "") if isinstance(entry, dict) else None


def nearest_ids(course: Course, misconception: str) -> list[str]:
    """Return the ids most like one that does not exist."""
    ids = [found[1] for _, text in _catalogues(course) for found in _NAME_LINE.finditer(text)] or list(
        _catalogue(course)
    )
    within = [each for each in ids if misconception and misconception in each]
    return within[:_NEAR] or difflib.get_close_matches(misconception, ids, n=_NEAR, cutoff=0.5)


def catalogue(course: Course) -> dict[str, dict[str, str]]:
    """Return what a kit without solutions says of misconceptions: their texts, and no code."""
    return {
        name: {"exercise": exercise.id, **{key: str(entry[key]) for key in _TEXTS if key in entry}}
        for exercise, text in _catalogues(course)
        for name, entry in _parsed(text).items()
        if isinstance(entry, dict)
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
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _solution(course: Course, exercise: Exercise) -> str:
    return _text(course.solutions_dir / exercise.file)


def _entry(text: str, name: str) -> Mapping[str, Any] | None:
    """Return one entry of a catalogue, read alone where its lines make sense alone, as reading all is slow."""
    names = list(_NAME_LINE.finditer(text))
    at = next(at for at, found in enumerate(names) if found[1] == name)
    end = names[at + 1].start() if at + 1 < len(names) else len(text)
    entry = _parsed(text[names[at].start() : end]).get(name) or _parsed(text).get(name)
    return entry if isinstance(entry, dict) else None


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _described(name: str, exercise: str, entry: Mapping[str, Any], solution: str) -> Described:
    texts = {key: str(entry.get(key, "")) for key in _TEXTS}
    wrong: list[str] = []
    right: list[str] = []
    for patch in entry.get("patches", [entry]):
        ours, theirs = _lines_of(patch, solution)
        right += ours
        wrong += theirs
    return Described(name, exercise, **texts, wrong=tuple(wrong), right=tuple(right))


def _lines_of(patch: Mapping[str, Any], solution: str) -> tuple[list[str], list[str]]:
    """Return the lines of the solution that a patch changes, and what it makes of them."""
    find, replace = (str(patch.get(key, "")).removesuffix("\n") for key in ("find", "replace"))
    at = solution.find(find) if find else -1
    if at < 0:
        return [], []
    begin, end = solution.rfind("\n", 0, at) + 1, solution.find("\n", at + len(find))
    end = end if end >= 0 else len(solution)
    ours = solution[begin:end].split("\n")
    theirs = (solution[begin:at] + replace + solution[at + len(find) : end]).split("\n")
    same = difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    changed = [each for each in same if each[0] != "equal"]
    return (
        [line for _, start, stop, _, _ in changed for line in ours[start:stop] if line.strip()],
        [line for _, _, _, start, stop in changed for line in theirs[start:stop] if line.strip()],
    )
