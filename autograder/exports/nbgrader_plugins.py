"""Plug-ins for nbgrader's own commands, named in nbgrader_config.py: stubs for releases, a reader of submissions."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import v4
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor

from autograder.course import (
    BEGIN,
    find_course,
    make_stub,
    read_course,
)
from autograder.submission import (
    SETUP,
    Caps,
    FileError,
    read_notebook,
)


def release_preprocessors() -> list[type]:
    """Return nbgrader's preprocessors for a release, with the stubs of the course instead of its own."""
    return [
        Stubs if preprocessor is ClearSolutions else preprocessor for preprocessor in GenerateAssignment().preprocessors
    ]


class Stubs(NbGraderPreprocessor):
    """Replace each solution region by the stub of `course build`."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Change the cells of a notebook before its release."""
        course = read_course(find_course(Path(resources["metadata"]["path"])))
        exercise = course.exercise(resources["nbgrader"]["notebook"])
        for cell in nb.cells:
            if cell.cell_type == "code" and BEGIN in cell.source:
                cell.source = make_stub(cell.source, exercise).strip("\n")
        return nb, resources


class SubmissionExporter(NotebookExporter):
    """Read a submitted notebook as it is graded: the texts of its cells, and everything else as released.

    Damaged files and copied, deleted or edited cells therefore raise no exception, which would stop nbgrader.
    """

    def from_file(self, file_stream: Any, resources: Any = None, **more: Any) -> Any:
        """Return the notebook and its resources, as nbconvert does."""
        where = resources["nbgrader"]
        with Gradebook(where["db_url"]) as gradebook:
            released = list(_released(gradebook.find_notebook(where["notebook"], where["assignment"])))
        book = repaired(file_stream.buffer.read(), {cell.name: cell for cell in released})
        return self.from_notebook_node(book, resources, **more)


@dataclass(frozen=True)
class Released:
    """A cell as nbgrader released it; `source` is None if the student writes it."""

    name: str
    kind: str
    source: str | None
    mark: Mapping[str, Any]

    @property
    def checks(self) -> bool:
        """Whether its value is a score."""
        return self.kind == "code" and bool(self.mark["grade"]) and not self.mark["solution"]


def repaired(data: bytes, released: Mapping[str, Released]) -> Any:
    """Return a notebook rebuilt from the texts in a file; of cells with the same grade_id the last one counts.

    The kit is imported again before each cell that checks, since the student's cells may have redefined `check`.
    """
    texts, problem = _texts(data)
    last = {name: at for at, (_, _, name) in enumerate(texts) if name in released}
    known = {at: released[name] for name, at in last.items()}
    book = v4.new_notebook(metadata={"kernelspec": dict(_KERNEL)})
    if problem:
        book.cells.append(v4.new_markdown_cell(f"The notebook that was handed in {problem}."))
    for at, (kind, text, _) in enumerate(texts):
        following = known.get(at + 1)
        if text != SETUP or following is None or not following.checks:
            book.cells += _cells_of_part(known.get(at), kind, text)
    for name, cell in released.items():
        if name not in last and cell.source is not None:
            book.cells += _cells_of_part(cell, cell.kind, cell.source)
    for number, cell in enumerate(book.cells, 1):
        cell["id"] = f"cell-{number}"
    return book


def _cells_of_part(cell: Released | None, kind: str, text: str) -> Iterator[Any]:
    if cell is None:
        yield _NEW[kind](text)
        return
    if cell.checks:
        yield v4.new_code_cell(SETUP)
    source = text if cell.source is None else cell.source
    yield _NEW[cell.kind](source, metadata={"nbgrader": dict(cell.mark)})


def _texts(data: bytes) -> tuple[list[tuple[str, str, str]], str]:
    """Return kind, text and grade_id ("" if it has none) of each cell of a file, or why it cannot be read."""
    caps = Caps()
    try:
        if len(data) > caps.notebook_kib * 1024:
            raise FileError(f"has {len(data):,} bytes, more than {caps.notebook_kib:,} KiB; it was not read")
        read_notebook(data, caps.source_bytes)
    except FileError as error:
        return [], str(error)
    return [_text(cell) for cell in json.loads(data.decode("utf-8-sig"))["cells"]], ""


def _text(cell: Mapping[str, Any]) -> tuple[str, str, str]:
    kind, source = cell.get("cell_type"), cell.get("source")
    lines = source if isinstance(source, list) else [source]
    metadata = cell.get("metadata")
    mark = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = mark.get("grade_id") if isinstance(mark, dict) else None
    text = "".join(line for line in lines if isinstance(line, str)).encode("utf-8", "replace").decode()
    return kind if kind in _NEW else "raw", text, name if isinstance(name, str) else ""


def _released(notebook: Any) -> Iterator[Released]:
    """Yield the cells of a notebook in nbgrader's gradebook, with the metadata of the release."""
    worth = {cell.name: cell.max_score for cell in (*notebook.grade_cells, *notebook.task_cells)}
    grades = {cell.name for cell in notebook.grade_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    tasks = {cell.name for cell in notebook.task_cells}
    for cell in notebook.source_cells:
        name = cell.name
        roles = {"grade": name in grades, "solution": name in solutions, "task": name in tasks, "locked": cell.locked}
        points = {"points": worth[name]} if name in worth else {}
        about = {"schema_version": 3, "grade_id": name, "cell_type": cell.cell_type, "checksum": cell.checksum}
        yield Released(name, cell.cell_type, cell.source if cell.locked else None, {**about, **roles, **points})


_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
_NEW = {"code": v4.new_code_cell, "markdown": v4.new_markdown_cell, "raw": v4.new_raw_cell}
