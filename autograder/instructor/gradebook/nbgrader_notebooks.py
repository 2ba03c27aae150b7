"""Notebooks in place of those that nbgrader's autograde writes, as pages for formgrader and feedback."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.authoring.notebooks import nbgrader_metadata
from autograder.instructor.gradebook.feedback import summary
from autograder.instructor.gradebook.graded import Mark
from autograder.instructor.gradebook.nbgrader_rows import Cells
from autograder.learner.progress import write_atomically
from autograder.results import ExerciseResult

OURS = "course_export"
"""The key in the metadata of our notebooks; a notebook without it is a student's, and is kept."""


def write_notebooks(
    marks: tuple[Mark, ...], cells: Mapping[str, Cells], folder: Path, assignment: str
) -> tuple[int, int]:
    """Write `folder/STUDENT/ASSIGNMENT/EXERCISE.ipynb`. Return how many are written, and how many others are kept."""
    written = others = 0
    for mark in marks:
        for result in mark.report.exercises if mark.report else ():
            file = folder / mark.student / assignment / f"{result.id}.ipynb"
            if _is_anothers(file):
                others += 1
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                text = json.dumps(_notebook(result, cells[result.id]), indent=1)
                write_atomically(file, text + "\n")
                written += 1
    return written, others


def _notebook(result: ExerciseResult, cells: Cells) -> dict[str, Any]:
    title = _cell("markdown", "title", f"# {result.title}", {})
    comment = _cell(
        "code",
        "comment",
        f"# {result.id}.py is in the submission.",
        nbgrader_metadata(cells.comment.name, solution=True),
    )
    text = summary(result)
    output = {"name": "stdout", "output_type": "stream", "text": f"{text}\n"}
    metadata = nbgrader_metadata(cells.grade.name, grade=True, locked=True, points=cells.grade.max_score)
    check = _cell("code", "check", f"check({result.id!r})", metadata) | {"outputs": [output]}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, OURS: True}
    return {"cells": [title, comment, check], "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def _cell(kind: str, name: str, source: str, nbgrader: dict[str, Any]) -> dict[str, Any]:
    metadata = {"nbgrader": nbgrader} if nbgrader else {}
    code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": metadata, "source": source, **code}


def _is_anothers(file: Path) -> bool:
    try:
        return OURS not in json.loads(file.read_bytes())["metadata"]
    except FileNotFoundError:
        return False
    except (ValueError, KeyError, TypeError):
        return True
