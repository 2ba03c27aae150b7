"""The code of an exercise out of a notebook: its code cells, one after the other, without what only checks.

The format is nbformat 4 (https://nbformat.readthedocs.io/en/latest/format_description.html): `cells`, each with a
`cell_type` and a `source` that is a string or a list of lines. nbgrader's mark of a cell that grades is in
`metadata.nbgrader` (`grade` without `solution`). Below such a cell that calls `check` a student tries things out.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from autograder.submission.found import FileError

CELLS = 2000
BRACKETS = 1_000_000
"""Of lists and objects in the JSON: each costs memory, numbers and texts hardly more than they have bytes."""

Cells = tuple[tuple[int, int], ...]
"""Where the lines of a source come from: `(line, cell)` for the first line of each cell, both counted from 1."""

_AGAIN = "save it again in Jupyter"
_MAGIC = re.compile(r"[%!?]|[\w.]+\?\??$|[\w.,\[\] \t]+=[ \t]*[%!](?!=)")
"""A line, stripped, that begins no statement of Python."""
_CELL_MAGIC = re.compile(r"\s*%%(\w*)")
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun"})
_CHECKS = re.compile(r"^[ \t]*(?:from|import)[ \t]+autograder\.notebook\b", re.MULTILINE)
_ASKS = re.compile(r"(?:check|hint|why|status)\([^#]*\)[ \t;]*(?:#.*)?")
"""A line, stripped, that only asks the kit something."""
_DECLARES = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]")
_DEFINES = re.compile(r"^(?:class|def|async def)\b", re.MULTILINE)
_PIECE = re.compile(
    r"""(?P<open>[\[({])|(?P<close>[\])}])|(?P<comment>\#[^\n]*)|(?P<on>\\\n)|(?P<end>\n)"""
    r"""|\"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z)|'{3}(?:\\.|[^\\])*?(?:'{3}|\Z)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?""",
    re.DOTALL,
)


@dataclass(frozen=True)
class Notebook:
    """The code of a notebook as one source, where its lines come from, and sentences about cells left out."""

    source: bytes
    cells: Cells
    notes: tuple[str, ...]


def read_notebook(data: bytes, limit: int) -> Notebook:
    """Return the code of a notebook, of `limit` bytes at most; raise `FileError` where it is none."""
    lines: list[str] = []
    starts: list[tuple[int, int]] = []
    notes: list[str] = []
    size = 0
    cells = list(_cells(data))
    own = max((at for at, cell in enumerate(cells, start=1) if _checks(*cell)), default=len(cells))
    for number, (source, metadata) in enumerate(cells, start=1):
        if source is None or _grades(metadata) or _asks(source):
            continue
        if number > own:
            if _DEFINES.search(source):
                notes.append(f"cell {number} is below the check, where code is for trying out, so it was left out")
            continue
        size += len(source)
        if size > limit:
            break
        if _CHECKS.search(source):
            if _DEFINES.search(source):
                notes.append(f"cell {number} imports autograder.notebook, so it was left out; check in another cell")
            continue
        starts.append((len(lines) + 1, number))
        lines += python_of(source)
    # Jupyter follows no declaration of an encoding, and the source is UTF-8; half a character stays an error in it.
    lines[:2] = ["#" if _DECLARES.match(line) else line for line in lines[:2]]
    text = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
    if max(size, len(text)) > limit:
        raise FileError(f"has more than {limit // 1024:,} KiB of code; it was not read: hand in less")
    return Notebook(text, tuple(starts), tuple(notes))


def cell_of(cells: Cells, line: int) -> tuple[int, int] | None:
    """Return the cell a line of the source comes from, and its line there; None where there was no cell."""
    at = bisect_right(cells, line, key=lambda each: each[0]) - 1
    return (cells[at][1], line - cells[at][0] + 1) if at >= 0 else None


def python_of(source: str) -> list[str]:
    """Return the lines of a cell as plain Python: what only IPython understands becomes a comment, line by line."""
    text = source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    whole = _CELL_MAGIC.match(text)
    if whole and whole[1] not in _PYTHON_CELLS:
        return [f"# {line}" for line in text.split("\n")]
    return [_commented(line) if begins and _MAGIC.match(line.strip()) else line for line, begins in _lines(f"{text}\n")]


def _commented(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}{'pass  ' if indent else ''}# {line.strip()}"  # a block that held only this needs a statement


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield every line, and whether a statement begins with it. A magic has a line, whatever brackets are in it."""
    at = 0
    while at < len(text):
        end = text.index("\n", at)
        if not _MAGIC.match(text[at:end].strip()):
            end = _end_of_statement(text, at)
        first, *more = text[at:end].split("\n")
        yield first, True
        yield from ((line, False) for line in more)
        at = end + 1


def _end_of_statement(text: str, at: int) -> int:
    """Return where the line ends with which a statement ends, by its brackets, strings and backslashes."""
    depth = 0
    for piece in _PIECE.finditer(text, at):
        depth += piece.lastgroup == "open"
        depth -= piece.lastgroup == "close" and depth > 0
        if piece.lastgroup == "end" and depth == 0:
            return piece.start()
    return len(text) - 1


def _cells(data: bytes) -> Iterator[tuple[str | None, Mapping[str, object]]]:
    """Yield source and metadata of each cell, None for what is no code."""
    if data.count(b"[") + data.count(b"{") > BRACKETS:
        raise FileError(f"has more than {BRACKETS:,} lists and objects in it; clear its outputs and {_AGAIN}")
    try:
        book = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise FileError(f"is no notebook: its JSON cannot be read as UTF-8; {_AGAIN}") from None
    except (ValueError, RecursionError):
        raise FileError(f"is no notebook: its JSON cannot be read; {_AGAIN}") from None
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        raise FileError(f"has no list of cells, expected a notebook of format 4; {_AGAIN}")
    if len(cells) > CELLS:
        raise FileError(f"has {len(cells):,} cells, more than {CELLS:,}; it was not read: hand in fewer")
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict):
            raise FileError(f"has a cell {number} that is no cell; {_AGAIN}")
        metadata = cell.get("metadata")
        source = _source(cell.get("source"), number) if cell.get("cell_type") == "code" else None
        yield source, metadata if isinstance(metadata, dict) else {}


def _source(source: object, number: int) -> str:
    if isinstance(source, str):
        return source
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    raise FileError(f"has a cell {number} without a text for its source; {_AGAIN}")


def _asks(source: str) -> bool:
    """Say whether a cell does nothing but ask the kit."""
    lines = [line for each in source.splitlines() if (line := each.strip()) and not line.startswith("#")]
    return bool(lines) and all(map(_ASKS.fullmatch, lines))


def _checks(source: str | None, metadata: Mapping[str, object]) -> bool:
    """Say whether a cell is the one that checks and grades: what is above it is the work."""
    return source is not None and _grades(metadata) and _asks(source)


def _grades(metadata: Mapping[str, object]) -> bool:
    mark = metadata.get("nbgrader")
    return isinstance(mark, dict) and mark.get("grade") is True and mark.get("solution") is not True
