"""The files that students get to fill in: stubs, and the notebooks made from them."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from autograder.course import (
    BEGIN,
    Course,
    Exercise,
    StubError,
    make_stub,
    stubs_dir,
)

from .submission import NOTEBOOKS, Handout, notebook_of

# The notebook of an exercise, made from the solution: lesson, code to fill in, a cell that checks, room to try.
#
# Graded cells have metadata for nbgrader (https://nbgrader.readthedocs.io, metadata schema 3).

SETUP = "from autograder.notebook import check, hint, status, why"

CHECK = """\
## Check

Run the cells above first, then this one. It shows what is right and where the first mistake is{pictures}. \
In a cell of your own, `hint("{number}")` gives the next hint, `why()` explains your last mistake, \
and `status()` shows your progress. The number below the cell is your score.\
"""

ROOM = "# Try things out here: code below the check is not graded."

_DEFINITION = re.compile(r"^(?:class|def) (\w+)", re.MULTILINE)
_OPEN = "raise NotImplementedError("
_TRY = re.compile(r"## Try\b")

Cell = dict[str, Any]


def notebook_of_text(text: str, exercise: Exercise, *, draws: bool = False, worth: float | None = None) -> str:
    """Return the notebook of a stub or a solution as JSON; equal texts give equal notebooks.

    `draws` tells whether the exercise has pictures to show once it passes. `worth` are its points, for nbgrader: only
    then the cell that checks is a cell that nbgrader grades. The points depend on the whole course, so a notebook that
    is handed out has none. The check of an exercise that is worth 0 has no value, since nbgrader has no bonus. Raises
    `StubError` without jupytext.
    """
    cells = _numbered(exercise, list(_cells(_split(text), exercise, draws, worth)))
    book = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(book, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _split(stub: str) -> list[tuple[str, str]]:
    """Return kind (`markdown` or `code`) and text of each cell of a percent script."""
    try:
        import jupytext
    except ImportError:
        raise StubError("notebooks need jupytext, which is not installed; run pip install jupytext") from None
    book = jupytext.reads(stub, fmt="py:percent")
    return [(cell.cell_type, cell.source.strip("\n")) for cell in book.cells if cell.source.strip()]


def _cells(parts: Sequence[tuple[str, str]], exercise: Exercise, draws: bool, worth: float | None) -> Iterator[Cell]:
    """Yield the cells: the import of the kit before the first code, and the check before the experiments."""
    trying = len(parts) - 1 if parts and parts[-1][0] == "markdown" and _TRY.match(parts[-1][1]) else len(parts)
    first = next((place for place, (kind, _) in enumerate(parts) if kind == "code"), trying)
    for place, (kind, text) in enumerate(parts[:trying]):
        if place == first:
            yield _code(SETUP)
        yield _markdown(text) if kind == "markdown" else _written(text, exercise)
    pictures = ", and draws what you built once you pass" if draws else ""
    yield _markdown(CHECK.format(number=exercise.id[:4], pictures=pictures))
    yield _checking(exercise, worth)
    yield from (_markdown(text) for _, text in parts[trying:])
    yield _code(ROOM)


def _markdown(text: str) -> Cell:
    return {"cell_type": "markdown", "metadata": {}, "source": _lines(text)}


def _code(text: str, **metadata: object) -> Cell:
    source = _lines(text)
    return {"cell_type": "code", "execution_count": None, "metadata": metadata, "outputs": [], "source": source}


def _written(text: str, exercise: Exercise) -> Cell:
    """Return a code cell, marked for nbgrader if the student fills it in."""
    named = _DEFINITION.findall(text)
    if not named or not (_OPEN in text or BEGIN in text):
        return _code(text)
    return _code(text, nbgrader=nbgrader_metadata(f"{exercise.id[:4]}-{named[-1]}", solution=True))


def _checking(exercise: Exercise, worth: float | None) -> Cell:
    """Return the cell that checks: locked; its value is the score."""
    points: dict[str, Any] = {} if worth is None else {"points": worth}
    metadata = nbgrader_metadata(f"{exercise.id[:4]}-check", grade=worth is not None, locked=True, **points)
    hide_value = ";" if worth == 0 else ""
    return _code(f'check("{exercise.id[:4]}"){hide_value}', deletable=False, editable=False, nbgrader=metadata)


def nbgrader_metadata(
    grade_id: str, *, grade: bool = False, solution: bool = False, locked: bool = False, **more: object
) -> Cell:
    """Return nbgrader's metadata of a code cell."""
    role = {"grade": grade, "solution": solution, "locked": locked, "task": False}
    return {"schema_version": 3, "grade_id": grade_id, "cell_type": "code", **role, **more}


def _numbered(exercise: Exercise, cells: list[Cell]) -> list[Cell]:
    """Return the cells with ids by position, so that a rebuild changes few of them."""
    return [{**cell, "id": f"{exercise.id[:4]}-{number:02d}"} for number, cell in enumerate(cells, 1)]


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def handout_of(course: Course) -> Handout:
    """Return the stubs, made from the solutions whatever is in exercises/, and the notebooks in exercises/.

    A kit has no solutions; it keeps a copy of the original files.
    """
    kept = stubs_dir(course)
    if kept.is_dir():
        return Handout({file.name: file.read_bytes() for file in [*sorted(kept.glob("*.py")), *_notebooks(kept)]})
    files: dict[str, bytes] = {}
    for exercise in course.exercises:
        try:
            solution = (course.solutions_dir / exercise.file).read_text("utf-8")
            files[exercise.file] = make_stub(solution, exercise).encode()
        except (OSError, ValueError, StubError):
            continue
    taken = {notebook_of(file) for file in course.files}
    notebooks = [file for file in _notebooks(course.exercises_dir) if file.name in taken]
    return Handout({**files, **{file.name: file.read_bytes() for file in notebooks}})


def _notebooks(folder: Path) -> list[Path]:
    return sorted((folder / NOTEBOOKS).glob("*.ipynb"))
