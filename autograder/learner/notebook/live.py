"""The notebook as it was last run: the file on disk, with the cells that were run since then in place of its own.

A cell is known by its id where the front end tells it, else by the names it binds: one that binds all the names of a
cell of the file is that cell, edited. One that is not in the file yet counts if it defines something.
"""

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.learner.notebook.runs import Run
from autograder.submission.notebook import Notebook, python_of, read_notebook

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Live:
    """The code of a notebook as it was last run, and the cells, counted from 1, that differ from the file on disk."""

    book: Notebook
    newer: tuple[int, ...]


def read_live(data: bytes, runs: Sequence[Run], limit: int) -> Live | None:
    """Return a notebook as it was last run; None where no cell of it that defines something was.

    `limit` is that of `read_notebook`; raises `FileError` as it does.
    """
    read_notebook(data, limit)  # it says what is wrong with a file that is no notebook
    book = json.loads(data.decode("utf-8-sig"))
    cells = _Cells(book["cells"])
    for run in runs:
        cells.take(run)
    if not cells.ran:
        return None
    book["cells"], newer = cells.merged()
    return Live(read_notebook(json.dumps(book).encode("utf-8", "replace"), limit), newer)


class _Cells:
    """The cells of a file, and what was run in place of them."""

    def __init__(self, cells: list[dict[str, Any]]) -> None:
        self.cells = cells
        self.sources = [_text(each) for each in cells]
        self.bound = [_bound(source) if source is not None else frozenset() for source in self.sources]
        self.ids = {each["id"]: place for place, each in enumerate(cells) if isinstance(each.get("id"), str)}
        self.defining = [place for place, each in enumerate(self.sources) if each is not None and _defines(each)]
        self.now: dict[int, str] = {}
        self.added: dict[frozenset[str], str] = {}
        self.ran = False

    def take(self, run: Run) -> None:
        """Put what was run in the place of the cell that it is."""
        if not _parses(run.source):
            return  # nothing of it was run
        places = self._places(run)
        for at, place in enumerate(places):
            self.now[place] = run.source if not at else ""
        self.ran = self.ran or bool(set(places) & set(self.defining))
        if not places and _defines(run.source):
            self.added[_bound(run.source)] = run.source

    def merged(self) -> tuple[list[dict[str, Any]], tuple[int, ...]]:
        """Return the cells as they were last run, and which of them, counted from 1, differ from the file's."""
        first = min(self.defining, default=len(self.cells))
        merged: list[dict[str, Any]] = []
        newer: list[int] = []
        for place, cell in enumerate([*self.cells, None]):
            if place == first:
                merged += [_code(source) for source in self.added.values()]
                newer += range(len(merged) - len(self.added) + 1, len(merged) + 1)
            if cell is None:
                continue
            source = self.now.get(place)
            if source is not None and source.strip() != (self.sources[place] or "").strip():
                newer.append(len(merged) + 1)
                cell = {**cell, "source": source}
            merged.append(cell)
        return merged, tuple(newer)

    def _places(self, run: Run) -> list[int]:
        """Return the cells of the file that a run stands for now."""
        if run.cell in self.ids:
            return [self.ids[run.cell]]
        same = [
            place for place, each in enumerate(self.sources) if each is not None and each.strip() == run.source.strip()
        ]
        bound = _bound(run.source)
        return same[:1] or [place for place, names in enumerate(self.bound) if names and names <= bound]


def _text(cell: Mapping[str, Any]) -> str | None:
    """Return the source of a cell of code."""
    source = cell.get("source")
    if cell.get("cell_type") != "code":
        return None
    return source if isinstance(source, str) else "".join(source or ())


def _code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse("\n".join(python_of(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _parses(source: str) -> bool:
    return _tree(source) is not None


def _defines(source: str) -> bool:
    tree = _tree(source)
    return tree is not None and any(isinstance(each, DEFINITIONS) for each in tree.body)


def _bound(source: str) -> frozenset[str]:
    tree = _tree(source)
    return frozenset(_names(tree)) if tree is not None else frozenset()


def _names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that the statements of a cell bind."""
    for each in tree.body:
        if isinstance(each, DEFINITIONS):
            yield each.name
        elif isinstance(each, ast.Import | ast.ImportFrom):
            yield from (name.asname or name.name.split(".")[0] for name in each.names)
        elif isinstance(each, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
