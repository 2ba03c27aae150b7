"""Remove whole tables from a TOML text, or set its `take`; comments and everything else stay as written."""

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any

_OPENING = re.compile(r"^\[{1,2}\s*([\w.\"'-]+(?:\s*\.\s*[\w\"'-]+)*)\s*\]{1,2}")

_TAKE = re.compile(r"^take\s*=\s*\[[^\]]*\][ \t]*(?:#.*)?\n", re.MULTILINE)


class TableError(Exception):
    """A text whose table cannot be removed; the message is the rest of a sentence."""


def without_tables(text: str, names: Sequence[str]) -> str:
    """Return a TOML text without these tables, their inner tables, and the comments right above them.

    Raises `TableError` if the rest would change its meaning.
    """
    wanted = tomllib.loads(text)
    for name in names:
        _drop(wanted, name.split("."))
    kept: list[str] = []
    dropping = False
    for line in text.splitlines(keepends=True):
        header = _OPENING.match(line)
        if header:
            dropped, dropping = dropping, _within(header[1], names)
            if dropping and not dropped:
                _drop_comments(kept)
        if not dropping:
            kept.append(line)
    # The text is edited line by line, so the result is compared with what it should mean.
    made = "".join(kept).rstrip("\n") + "\n"
    try:
        same = tomllib.loads(made) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise TableError(f"{' or '.join(names)} cannot be removed; write it as a table of its own, [{names[0]}]")
    return made


def with_take(text: str, take: Sequence[str]) -> str:
    """Return a TOML text whose `take` has these names, after the comments at its top. Raises `TableError`."""
    before = tomllib.loads(text)
    wanted = {**before, "take": list(take)}
    if not take:
        return text
    # Keys at the top come before all tables, so the first one is it.
    lines = (_TAKE.sub("", text, count=1) if "take" in before else text).splitlines(keepends=True)
    place = next((at for at, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))
    made = "".join([*lines[:place], f"take = {json.dumps(list(take))}\n", *lines[place:]])
    try:
        same = tomllib.loads(made) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise TableError("take cannot be replaced; write it at the top, as take = [...]")
    return made


def _within(header: str, names: Sequence[str]) -> bool:
    plain = re.sub(r"[\s\"']", "", header)
    return any(plain == name or plain.startswith(f"{name}.") for name in names)


def _drop_comments(lines: list[str]) -> None:
    while lines and lines[-1].startswith("#"):
        lines.pop()


def _drop(table: dict[str, Any], path: Sequence[str]) -> None:
    for part in path[:-1]:
        table = table.get(part, {})
    table.pop(path[-1], None)
