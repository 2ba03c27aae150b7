"""Find the line of every key of a TOML text: tomllib keeps no positions, and an error message needs a line."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

KeyPath = tuple[str | int, ...]
"""The path to a value: `("exercises", 3, "points")` is `points` in the fourth [[exercises]]."""

_TOKEN = re.compile(
    r'''(?P<string>"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')'''
    r"|(?P<comment>\#[^\n]*)|(?P<newline>\n)|(?P<bare>[A-Za-z0-9_-]+)|(?P<mark>[\[\]{}=])",
    re.DOTALL,
)


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def key_lines(text: str) -> dict[KeyPath, int]:
    """Return the line of every table and key of a text that tomllib accepts. Keys inside a value have none."""
    lines: dict[KeyPath, int] = {}
    counts: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for statement in _statements(text):
        first = statement[0]
        if first.text != "[":
            _record(lines, table, _key(statement), first.line)
            continue
        key = _key(statement)
        parent: KeyPath = ()
        for part in key[:-1]:
            parent = _latest((*parent, part), counts)
        table = (*parent, key[-1])
        _record(lines, (), table, first.line)
        if statement[1].text == "[":
            counts[table] = counts.get(table, 0) + 1
            table = _latest(table, counts)
            lines[table] = first.line
    return lines


def line_of(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """Return the line of a key, or of the innermost table around it that has one."""
    return next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), None)


def _statements(text: str) -> Iterator[list[_Token]]:
    """Yield the tokens of each header and of each `key = value`, which may span several lines."""
    statement: list[_Token] = []
    depth = 0
    for token in _tokens(text.replace("\r\n", "\n")):
        if token.kind == "newline" and depth == 0 and statement:
            yield statement
            statement = []
        if token.kind == "mark":
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token.text, 0)
        if token.kind not in ("newline", "comment"):
            statement.append(token)
    if statement:
        yield statement


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        yield _Token(str(match.lastgroup), match.group(), line)
        line += match.group().count("\n")


def _key(statement: list[_Token]) -> KeyPath:
    """Return the parts of the dotted key a statement begins with."""
    end = next((index for index, token in enumerate(statement) if token.text in ("=", "]")), len(statement))
    return tuple(_unquoted(token) for token in statement[:end] if token.kind in ("bare", "string"))


def _unquoted(token: _Token) -> str:
    return token.text if token.kind == "bare" else str(tomllib.loads(f"key = {token.text}")["key"])


def _latest(path: KeyPath, counts: Mapping[KeyPath, int]) -> KeyPath:
    """Return a path that names an array of tables with the index of the latest table."""
    return (*path, counts[path] - 1) if path in counts else path


def _record(lines: dict[KeyPath, int], table: KeyPath, key: KeyPath, line: int) -> None:
    """Record the line of a key and of the tables that its dots open."""
    for end in range(1, len(key) + 1):
        lines.setdefault((*table, *key[:end]), line)
