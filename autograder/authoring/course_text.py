"""Add an exercise to the text of a course.toml, and leave everything else as the author wrote it."""

import re
import tomllib
from decimal import Decimal
from typing import Any

_TABLE = re.compile(r"^\s*\[{1,2}\s*([\w-]+)")
_EXERCISES = "exercises"
_PARTS = "parts"
_PART = re.compile(r"^\[\[\s*parts\s*\]\]", re.MULTILINE)
_LIST = re.compile(r"^exercises\s*=\s*\[([^\]#]*)\]", re.MULTILINE)


class EntryError(Exception):
    """A text that an entry cannot be added to; the message is a sentence."""


def with_entry(text: str, entry: str) -> str:
    """Return the text with an `[[exercises]]` entry after those that are there. Raises `EntryError`."""
    lines = text.splitlines(keepends=True)
    place = _place(lines)
    before, after = "".join(lines[:place]).rstrip(), "".join(lines[place:]).lstrip()
    made = _listed(f"{before}\n\n{entry.strip()}\n" + (f"\n{after}" if after else ""), entry)
    # The text is edited line by line, so the result is compared with what it should mean.
    if _read(made) != _expected(text, entry):
        raise EntryError("the exercises of course.toml are not written as [[exercises]] tables; write them so")
    return made


def _place(lines: list[str]) -> int:
    """Return the line after the last table of an exercise: the next table with its comments, or the end."""
    tables = [(number, match[1]) for number, line in enumerate(lines) if (match := _TABLE.match(line))]
    last = max((number for number, name in tables if name == _EXERCISES), default=None)
    following = [number for number, _ in tables if last is not None and number > last]
    place = following[0] if following else len(lines)
    while following and place > 0 and (lines[place - 1].startswith("#") or not lines[place - 1].strip()):
        place -= 1
    return place


def _read(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (ValueError, ArithmeticError):
        return None


def _expected(text: str, entry: str) -> dict[str, Any]:
    before, added = tomllib.loads(text, parse_float=Decimal), tomllib.loads(entry, parse_float=Decimal)
    exercises = before.get(_EXERCISES, [])
    parts = before.get(_PARTS, [])
    if parts:
        parts = [*parts[:-1], {**parts[-1], _EXERCISES: [*parts[-1].get(_EXERCISES, []), added[_EXERCISES][0]["id"]]}]
    every = [*(exercises if isinstance(exercises, list) else []), *added[_EXERCISES]]
    return {**before, _EXERCISES: every, **({_PARTS: parts} if parts else {})}


def _listed(text: str, entry: str) -> str:
    """Return the text with the new exercise at the end of the list of the last part, if the course has parts."""
    last = [match.end() for match in _PART.finditer(text)][-1:]
    if not last or (found := _LIST.search(text, last[0])) is None:
        return text
    id_ = tomllib.loads(entry)[_EXERCISES][0]["id"]
    ids, end = found[1].rstrip(), found.end(1)
    comma = "" if not ids or ids.endswith(",") else ","
    between = "\n    " if "\n" in found[1] else " " if ids else ""
    after = ",\n" if "\n" in found[1] else ""
    return f'{text[: found.start(1)]}{ids}{comma}{between}"{id_}"{after}{text[end:]}'
