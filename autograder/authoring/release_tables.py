"""Remove whole tables from a TOML text; comments and everything else stay as written."""

import re
import tomllib
from collections.abc import Sequence
from typing import Any

_OPENING = re.compile(r"^\[{1,2}\s*([\w.\"'-]+(?:\s*\.\s*[\w\"'-]+)*)\s*\]{1,2}")


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
