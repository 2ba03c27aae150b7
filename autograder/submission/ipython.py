"""Read a cell as Jupyter does, with IPython's own input transformer, and leave only Python: nothing is ever run.

Lines keep their numbers. A magic or a command of the shell becomes `pass`, or None where its result has a name.
"""

import ast
import re
import warnings
from collections.abc import Sequence

from autograder.submission.files import FileError

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


class Budget:
    """Counts the characters that IPython may still read; beyond them, lines stay as they are."""

    def __init__(self) -> None:
        self.left = _MOST_READ


def python_of(source: str, budget: Budget | None = None) -> list[str]:
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
    return [*lines[:at], *_transformed(code, budget or Budget())]


def is_python(text: str) -> bool:
    """Say whether Python can read a text in which, as in a notebook, `await` may stand anywhere."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _transformed(code: Sequence[str], budget: Budget) -> list[str]:
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
