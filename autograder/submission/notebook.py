"""Extract the code of an exercise from a notebook: its code cells in order, without those that only check.

The format is nbformat 4 (https://nbformat.readthedocs.io/en/latest/format_description.html): `cells`, each with a
`cell_type` and a `source` that is a string or a list of lines. nbgrader marks a cell that grades in
`metadata.nbgrader` (`grade` without `solution`), and a cell that nobody edits (`locked`). Cells below such a cell that
only calls `check` are for trying things out.
"""

import ast
import json
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.protocol import CONFLICT, first_conflict

from .contents import FileError

# Read a cell as Jupyter does, with IPython's own input transformer, and leave only Python: nothing is ever run.
#
# Lines keep their numbers. A magic or a command of the shell becomes `pass`, or None where its result has a name.

INSTALL = "install it with `pip install -e '.[notebook]'` in the kit's folder, and run this again"

_LONGEST_CELL, _LONGEST_HELP = 1 << 16, 500
_MOST_READ = 1 << 19
"""Characters that IPython may read for a notebook: it reads the whole cell again for each line that it changes."""

_PYTHON_CELLS = frozenset({"time", "capture", "prun"})
"""Magics whose cell runs as a part of the notebook."""

_CELL_MAGIC = re.compile(r"\s*%%([\w!]*)")
_NEEDS_IPYTHON = re.compile(r"\A[ \t]|^[ \t]*(?:[%!?,;/]|>>> |In \[\d+\]: )|=[ \t]*[%!]|\?[ \t]*$", re.MULTILINE)
_TRANSFORMED = re.compile(r"([ \t]*)(.*?=[ \t]*)?get_ipython\(\)\.(\w+)\((.*)\)\n", re.DOTALL)
_BARE = re.compile(
    r"(?:pip3?|conda|mamba|uv|l[sfklx]|ll|ldir|cd|pwd|cat|cp|mv|rm|mkdir|rmdir|env|pushd|popd|who|whos|who_ls|history"
    r"|hist|load_ext|reload_ext|autoreload|matplotlib|pylab|config|precision|man|more|less|pinfo2?|pdoc|psource|pfile"
    r"|timeit|lsmagic|magic|quickref|system|sx|run|reset|reset_selective|xdel|xmode|notebook|recall|rerun|sc)"
    r"(?![.(\[,:\w]|[ \t]*=)(?:[ \t].*)?"
)
"""A cell of one line that Jupyter takes for a magic without its `%`: the names are those of IPython."""


class IPythonMissing(FileError):
    """A cell needs IPython, and it is not installed."""


def magic_of(source: str) -> str:
    """Return the magic of a cell that is no part of the notebook's code, as `bash`; empty if the cell is."""
    match = _CELL_MAGIC.match(source)
    while match and match[1] in _PYTHON_CELLS:
        source = source[match.end() :].partition("\n")[2]
        match = _CELL_MAGIC.match(source)
    return match[1] if match else ""


class LineBudget:
    """Counts the characters that IPython may still read; beyond them, lines stay as they are."""

    def __init__(self) -> None:
        self.left = _MOST_READ


def python_of(source: str, budget: LineBudget | None = None) -> list[str]:
    """Return the lines of a cell as plain Python. Raises `IPythonMissing`."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")
    if magic_of(source):
        return [f"# {line}" for line in lines]
    at = 0
    while (match := _CELL_MAGIC.match(text := "\n".join(lines[at:]))) is not None:
        at += text.count("\n", 0, match.end()) + 1
        lines[at - 1] = f"# {lines[at - 1]}"
    code = lines[at:]
    whole = "\n".join(code).strip()
    if _BARE.fullmatch(whole):
        return [*lines[:at], *(f"# {line}" if line.strip() else line for line in code)]
    if is_python("\n".join(code)) or not _NEEDS_IPYTHON.search("\n".join(code)):
        return lines
    return [*lines[:at], *_transformed(code, budget or LineBudget())]


def is_python(text: str) -> bool:
    """Say whether Python can read a text in which, as in a notebook, `await` may stand anywhere."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _transformed(code: Sequence[str], budget: LineBudget) -> list[str]:
    """Return the lines of a cell after IPython's transformations, as many as before."""
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ImportError:
        raise IPythonMissing(f"needs IPython; {INSTALL}") from None
    size = sum(map(len, code))
    if size > _LONGEST_CELL or any(len(line) > _LONGEST_HELP and line.rstrip().endswith("?") for line in code):
        return list(code)
    first = next((at for at, line in enumerate(code) if line.strip()), 0)
    lines = [f"{line}\n" for line in code[first:]]
    manager = TransformerManager()
    for clean in manager.cleanup_transforms:
        lines = clean(lines)
    if len(lines) != len(code) - first:
        return list(code)
    for _ in range(min(500, budget.left // (size + 1))):
        budget.left -= size + 1
        try:
            changed, after = manager.do_one_token_transform(lines)
        except Exception:  # a text that no notebook has: Python reports what is wrong with it
            break
        if not changed:
            break
        lines = _one_step(lines, after)
    return [*code[:first], *(line.removesuffix("\n") for line in lines)]


def _one_step(before: list[str], after: list[str]) -> list[str]:
    """Return lines after one transformation, with Python in place of what IPython would do, and as many as before."""
    start = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), 0)
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    made = _harmless("".join(new), old[0] if old else "")
    return [*before[:start], made, *["\n"] * (len(old) - 1), *before[len(before) - end :]]


def _harmless(made: str, line: str) -> str:
    """Return what stands in place of a line that IPython made; `%time` runs its statement."""
    match = _TRANSFORMED.fullmatch(made)
    if match is None:
        return " ".join(made.splitlines()) + "\n"
    indent, name, call, arguments = match[1], match[2] or "", match[3], match[4]
    if call == "run_line_magic":
        magic, statement = ast.literal_eval(f"({arguments},)")
        if magic == "time" and "\n" not in statement and is_python(f"{name.strip()}{statement}"):
            return f"{indent}{name}{statement or None}  # {line.strip()}\n"
    value = "[]" if call == "getoutput" else "None"
    if name:
        return f"{indent}{name}{value}\n"
    return f"{indent}{'pass  ' if indent else ''}# {line.strip()}\n"  # a block that held only this needs a statement


CELLS = 2000
BRACKETS = 1_000_000
"""Lists and objects in the JSON. Each costs memory far beyond its bytes, unlike numbers and texts."""

Cells = tuple[tuple[int, int], ...]
"""The cells of a source: `(line, cell)` for the first line of each cell, both counted from 1."""

_AGAIN = "save it again in Jupyter"
_CHECKS = re.compile(r"^[ \t]*(?:from|import)[ \t]+autograder\.notebook\b", re.MULTILINE)
_ASKS = re.compile(r"(?:check|hint|why|status)\([^#]*\)[ \t;]*(?:#.*)?")
"""A stripped line that only asks the kit something."""
_DECLARES = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]")
_DEFINES = re.compile(r"^(?:class|def|async def)\b", re.MULTILINE)


@dataclass(frozen=True)
class Notebook:
    """The code of a notebook as one source, the cells its lines come from, and notes about cells left out.

    `left` has every other cell that was left out: its number, what it is, and its text.
    """

    source: bytes
    cells: Cells
    notes: tuple[str, ...]
    left: tuple[tuple[int, str, str], ...] = ()


def read_notebook(data: bytes, limit: int) -> Notebook:
    """Return the code of a notebook, at most `limit` bytes; raise `FileError` if it cannot be read."""
    lines: list[str] = []
    starts: list[tuple[int, int]] = []
    notes: list[str] = []
    left: list[tuple[int, str, str]] = []
    size, budget = 0, LineBudget()
    cells = list(_cells(data))
    last = max((number for number, cell in enumerate(cells, start=1) if _checks(cell)), default=len(cells))
    for number, cell in enumerate(cells, start=1):
        source = cell.source
        if cell.kind != "code":
            left.append((number, f"is a {'text' if cell.kind == 'markdown' else 'raw'} cell", source))
            continue
        if _is(cell.metadata, "grade"):
            left.append((number, "is a test cell of nbgrader", source))
            continue
        if _asks(source):
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
        if magic := magic_of(source):
            left.append((number, f"begins with %%{magic}", source))
        starts.append((len(lines) + 1, number))
        try:
            lines += python_of(source, budget)
        except IPythonMissing:
            raise IPythonMissing(f"has a cell {number} that only IPython can read; {INSTALL}") from None
    # Jupyter ignores declarations of an encoding, and the source is UTF-8. A lone surrogate stays an error in it.
    lines[:2] = ["#" if _DECLARES.match(line) else line for line in lines[:2]]
    text = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
    if max(size, len(text)) > limit:
        raise FileError(f"has more than {limit // 1024:,} KiB of code, so it was not read; hand in less code")
    return Notebook(text, tuple(starts), tuple(notes), tuple(left))


def cell_of(cells: Cells, line: int) -> tuple[int, int] | None:
    """Return the cell of a line of the source, and its line there; None if the source is not from a notebook."""
    index = bisect_right(cells, line, key=lambda cell: cell[0]) - 1
    return (cells[index][1], line - cells[index][0] + 1) if index >= 0 else None


@dataclass(frozen=True)
class _Cell:
    """A cell: `code`, `markdown` or another kind."""

    kind: str
    source: str
    metadata: Mapping[str, object]


def _cells(data: bytes) -> Iterator[_Cell]:
    """Yield the cells. Raise `FileError` if there are none to read."""
    if data.count(b"[") + data.count(b"{") > BRACKETS:
        raise FileError(f"has more than {BRACKETS:,} lists and objects in it; clear its outputs and {_AGAIN}")
    try:
        book = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise FileError(f"is not a notebook: its JSON cannot be read as UTF-8; {_AGAIN}") from None
    except (ValueError, RecursionError):
        if line := first_conflict(data):
            raise FileError(f"is not a notebook: {CONFLICT.format(line)}") from None
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
        kind, source = str(cell.get("cell_type"))[:20], cell.get("source")
        yield _Cell(kind, _source(source, number, kind), metadata if isinstance(metadata, dict) else {})


def _source(source: object, number: int, kind: str) -> str:
    if isinstance(source, str):
        return source
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    if kind != "code":
        return ""
    raise FileError(f"has a cell {number} without a text as its source; {_AGAIN}")


def _asks(source: str) -> bool:
    """Say whether a cell does nothing but ask the kit."""
    lines = [line for line in map(str.strip, source.splitlines()) if line and not line.startswith("#")]
    return bool(lines) and all(map(_ASKS.fullmatch, lines))


def _checks(cell: _Cell) -> bool:
    """Say whether a cell is the one that checks: the cells above it are the work. Only nbgrader's own copy grades."""
    return cell.kind == "code" and _asks(cell.source) and (_is(cell.metadata, "grade") or _is(cell.metadata, "locked"))


def _is(metadata: Mapping[str, object], role: str) -> bool:
    """Say whether nbgrader marks a cell, which is not one to fill in, with a role."""
    mark = metadata.get("nbgrader")
    return isinstance(mark, dict) and mark.get(role) is True and mark.get("solution") is not True
