"""Extract the code of an exercise from a notebook: its code cells in order, without those that only check.

The format is nbformat 4 (https://nbformat.readthedocs.io/en/latest/format_description.html): `cells`, each with a
`cell_type` and a `source` that is a string or a list of lines. nbgrader marks a cell that grades in
`metadata.nbgrader` (`grade` without `solution`), and a cell that nobody edits (`locked`). Cells below such a cell that
only calls `check` are for trying things out.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from autograder.submission.files import FileError

CELLS = 2000
BRACKETS = 1_000_000
"""Lists and objects in the JSON. Each costs memory far beyond its bytes, unlike numbers and texts."""

Cells = tuple[tuple[int, int], ...]
"""The cells of a source: `(line, cell)` for the first line of each cell, both counted from 1."""

_AGAIN = "save it again in Jupyter"
_MAGIC = re.compile(r"[%!?]|[\w.]+\?\??$|[\w.,\[\] \t]+=[ \t]*[%!](?!=)")
"""A stripped line that IPython understands and Python does not."""
_CELL_MAGIC = re.compile(r"\s*%%(\w*)")
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun"})
_CHECKS = re.compile(r"^[ \t]*(?:from|import)[ \t]+autograder\.notebook\b", re.MULTILINE)
_ASKS = re.compile(r"(?:check|hint|why|status)\([^#]*\)[ \t;]*(?:#.*)?")
"""A stripped line that only asks the kit something."""
_DECLARES = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]")
_DEFINES = re.compile(r"^(?:class|def|async def)\b", re.MULTILINE)
_PIECE = re.compile(
    r"""(?P<open>[\[({])|(?P<close>[\])}])|(?P<comment>\#[^\n]*)|(?P<on>\\\n)|(?P<end>\n)"""
    r"""|\"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z)|'{3}(?:\\.|[^\\])*?(?:'{3}|\Z)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?""",
    re.DOTALL,
)


@dataclass(frozen=True)
class Notebook:
    """The code of a notebook as one source, the cells its lines come from, and notes about cells left out."""

    source: bytes
    cells: Cells
    notes: tuple[str, ...]


def read_notebook(data: bytes, limit: int) -> Notebook:
    """Return the code of a notebook, at most `limit` bytes; raise `FileError` if it cannot be read."""
    lines: list[str] = []
    starts: list[tuple[int, int]] = []
    notes: list[str] = []
    size = 0
    cells = list(_cells(data))
    last = max((number for number, cell in enumerate(cells, start=1) if _checks(*cell)), default=len(cells))
    for number, (source, metadata) in enumerate(cells, start=1):
        if source is None or _is(metadata, "grade") or _asks(source):
            continue
        if number > last:
            if _DEFINES.search(source):
                notes.append(f"cell {number} is below the check, so it was left out; move code to be graded above it")
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
    # Jupyter ignores declarations of an encoding, and the source is UTF-8. A lone surrogate stays an error in it.
    lines[:2] = ["#" if _DECLARES.match(line) else line for line in lines[:2]]
    text = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
    if max(size, len(text)) > limit:
        raise FileError(f"has more than {limit // 1024:,} KiB of code, so it was not read; hand in less code")
    return Notebook(text, tuple(starts), tuple(notes))


def cell_of(cells: Cells, line: int) -> tuple[int, int] | None:
    """Return the cell of a line of the source, and its line there; None if the source is not from a notebook."""
    index = bisect_right(cells, line, key=lambda cell: cell[0]) - 1
    return (cells[index][1], line - cells[index][0] + 1) if index >= 0 else None


def python_of(source: str) -> list[str]:
    """Return the lines of a cell as plain Python; lines that only IPython understands become comments."""
    text = source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    whole = _CELL_MAGIC.match(text)
    if whole and whole[1] not in _PYTHON_CELLS:
        return [f"# {line}" for line in text.split("\n")]
    return [_commented(line) if begins and _MAGIC.match(line.strip()) else line for line, begins in _lines(f"{text}\n")]


def _commented(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}{'pass  ' if indent else ''}# {line.strip()}"  # a block that held only this needs a statement


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield every line, and whether it begins a statement. A magic ends with its line, whatever brackets it has."""
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
    """Return the end of the last line of a statement, found from its brackets, strings and backslashes."""
    depth = 0
    for piece in _PIECE.finditer(text, at):
        depth += piece.lastgroup == "open"
        depth -= piece.lastgroup == "close" and depth > 0
        if piece.lastgroup == "end" and depth == 0:
            return piece.start()
    return len(text) - 1


def _cells(data: bytes) -> Iterator[tuple[str | None, Mapping[str, object]]]:
    """Yield source and metadata of each cell; the source is None if the cell is not code."""
    if data.count(b"[") + data.count(b"{") > BRACKETS:
        raise FileError(f"has more than {BRACKETS:,} lists and objects in it; clear its outputs and {_AGAIN}")
    try:
        book = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise FileError(f"is not a notebook: its JSON cannot be read as UTF-8; {_AGAIN}") from None
    except (ValueError, RecursionError):
        raise FileError(f"is not a notebook: its JSON cannot be read; {_AGAIN}") from None
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        raise FileError(f"has no list of cells, expected a notebook of format 4; {_AGAIN}")
    if len(cells) > CELLS:
        raise FileError(f"has {len(cells):,} cells, more than {CELLS:,}, so it was not read; hand in fewer cells")
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict):
            raise FileError(f"has a broken cell {number}, expected a JSON object; {_AGAIN}")
        metadata = cell.get("metadata")
        source = _source(cell.get("source"), number) if cell.get("cell_type") == "code" else None
        yield source, metadata if isinstance(metadata, dict) else {}


def _source(source: object, number: int) -> str:
    if isinstance(source, str):
        return source
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    raise FileError(f"has a cell {number} without a text as its source; {_AGAIN}")


def _asks(source: str) -> bool:
    """Say whether a cell does nothing but ask the kit."""
    lines = [line for line in map(str.strip, source.splitlines()) if line and not line.startswith("#")]
    return bool(lines) and all(map(_ASKS.fullmatch, lines))


def _checks(source: str | None, metadata: Mapping[str, object]) -> bool:
    """Say whether a cell is the one that checks: the cells above it are the work. Only nbgrader's own copy grades."""
    return source is not None and _asks(source) and (_is(metadata, "grade") or _is(metadata, "locked"))


def _is(metadata: Mapping[str, object], role: str) -> bool:
    """Say whether nbgrader marks a cell, which is not one to fill in, with a role."""
    mark = metadata.get("nbgrader")
    return isinstance(mark, dict) and mark.get(role) is True and mark.get("solution") is not True
