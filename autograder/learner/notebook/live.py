"""The notebook as last run: the file on disk, with each cell replaced by its latest run.

The front end may report the id of a cell. Without it, a cell is matched by the names it binds: a run that binds all
names of a cell in the file is that cell, edited. A cell that is not in the file counts if it defines something.
"""

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.learner.notebook.runs import Run
from autograder.submission.ipython import python_of
from autograder.submission.notebook import Notebook, read_notebook

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class LiveNotebook:
    """The code of a notebook as last run, and the cells, counted from 1, that differ from the file on disk."""

    book: Notebook
    newer: tuple[int, ...]


def read_live(data: bytes, runs: Sequence[Run], limit: int) -> LiveNotebook | None:
    """Return a notebook as last run; None if none of its definitions were run.

    `limit` is that of `read_notebook`; raises `FileError` as it does.
    """
    read_notebook(data, limit)  # for its error, if the file is no notebook
    book = json.loads(data.decode("utf-8-sig"))
    cells = _Cells(book["cells"])
    for run in runs:
        cells.take(run)
    if not cells.ran:
        return None
    book["cells"], newer = cells.merged()
    return LiveNotebook(read_notebook(json.dumps(book).encode("utf-8", "replace"), limit), newer)


class _Cells:
    """The cells of a file, and the runs that replace them."""

    def __init__(self, cells: list[dict[str, Any]]) -> None:
        self.cells = cells
        self.sources = [_text(cell) for cell in cells]
        self.bound = [_bound(source) if source is not None else frozenset() for source in self.sources]
        self.ids = {cell["id"]: place for place, cell in enumerate(cells) if isinstance(cell.get("id"), str)}
        self.defining = [place for place, source in enumerate(self.sources) if source is not None and _defines(source)]
        self.now: dict[int, str] = {}
        self.added: dict[frozenset[str], str] = {}
        self.ran = False

    def take(self, run: Run) -> None:
        """Replace the cell that a run is of."""
        if not _parses(run.source):
            return  # Python ran nothing of it
        places = self._places(run)
        for at, place in enumerate(places):
            self.now[place] = run.source if not at else ""
        self.ran = self.ran or bool(set(places) & set(self.defining))
        if not places and _defines(run.source):
            self.added[_bound(run.source)] = run.source

    def merged(self) -> tuple[list[dict[str, Any]], tuple[int, ...]]:
        """Return the cells as last run, and which of them, counted from 1, differ from the file's."""
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
        """Return the cells of the file that a run replaces."""
        if run.cell in self.ids:
            return [self.ids[run.cell]]
        same = [
            place
            for place, source in enumerate(self.sources)
            if source is not None and source.strip() == run.source.strip()
        ]
        bound = _bound(run.source)
        return same[:1] or [place for place, names in enumerate(self.bound) if names and names <= bound]


def _text(cell: Mapping[str, Any]) -> str | None:
    """Return the source of a code cell; None for another cell."""
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
    return tree is not None and any(isinstance(statement, DEFINITIONS) for statement in tree.body)


def _bound(source: str) -> frozenset[str]:
    tree = _tree(source)
    return frozenset(_names(tree)) if tree is not None else frozenset()


def _names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that the statements of a cell bind."""
    for statement in tree.body:
        if isinstance(statement, DEFINITIONS):
            yield statement.name
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            yield from (name.asname or name.name.split(".")[0] for name in statement.names)
        elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
