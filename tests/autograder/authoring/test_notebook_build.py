"""The notebooks that `course build` makes: the lesson, the code to fill in, the cell that checks, and no solution."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.command_build import stale_notebooks
from autograder.course import BEGIN, END, Exercise, load_suite, make_stub, read_course
from autograder.submission import SETUP, notebook_file, notebook_of, notebook_of_text, read_notebook, stubs_of
from autograder.submission.submission import ROOM
from tests.support import tiny

pytestmark = pytest.mark.worker

COURSE = read_course(tiny.REPOSITORY)
EXERCISE = Exercise("ex07_example", "example", 450, (), {}, ())
LESSON = "# %% [markdown]\n# # Example\n#\n# $x^2$ of `(T,)`\n\n"
BODY = f"    # TODO\n    {BEGIN}\n    secret = x\n    return x + secret\n    {END}\n"
CODE = f"# %%\nimport math\n\n\n# %%\ndef double(x):\n{BODY}"
TRY = "\n\n# %% [markdown]\n# ## Try\n#\n# Something.\n"
LIMIT = 1 << 18


def made(text: str, **options: float) -> dict[str, Any]:
    book: dict[str, Any] = json.loads(notebook_of_text(text, EXERCISE, **options))
    return book


def marks(book: dict[str, Any]) -> list[dict[str, Any]]:
    """Return nbgrader's metadata of the cells that have it."""
    return [cell["metadata"]["nbgrader"] for cell in book["cells"] if "nbgrader" in cell["metadata"]]


def sources(book: dict[str, Any], kind: str = "code") -> list[str]:
    return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == kind]


def books() -> list[Path]:
    return [notebook_file(COURSE, exercise) for exercise in COURSE.exercises]


def test_a_notebook_has_the_lesson_the_code_the_check_and_room_to_try_in_this_order() -> None:
    book = made(make_stub(LESSON + CODE + TRY, EXERCISE))
    kinds = [cell["cell_type"] for cell in book["cells"]]
    assert kinds == ["markdown", "code", "code", "code", "markdown", "code", "markdown", "code"]
    assert sources(book, "markdown")[0] == "# Example\n\n$x^2$ of `(T,)`"
    assert sources(book, "markdown")[2] == "## Try\n\nSomething."
    setup, imports, code, check, room = sources(book)
    assert (setup, imports, check, room) == (SETUP, "import math", 'check("ex07")', ROOM)
    assert code.endswith('raise NotImplementedError("ex07: double")')


def test_the_cells_to_fill_in_and_the_cell_that_checks_are_marked_for_nbgrader() -> None:
    both = {"schema_version": 3, "cell_type": "code", "task": False}
    to_fill_in = {**both, "grade_id": "ex07-double", "grade": False, "solution": True, "locked": False}
    checks = {**both, "grade_id": "ex07-check", "grade": False, "solution": False, "locked": True}
    stub = make_stub(LESSON + CODE + TRY, EXERCISE)
    assert marks(made(stub)) == [to_fill_in, checks]
    assert marks(made(stub, worth=4.5)) == [to_fill_in, {**checks, "grade": True, "points": 4.5}]


def test_the_points_of_other_exercises_make_no_notebook_stale() -> None:
    stub = make_stub(LESSON + CODE, EXERCISE)
    assert notebook_of_text(stub, EXERCISE) == notebook_of_text(stub, replace(EXERCISE, points=1))


def test_a_lesson_without_things_to_try_or_of_nothing_but_code_is_a_notebook_too() -> None:
    assert sources(made(CODE))[0] == SETUP
    assert len(made(LESSON + CODE)["cells"]) == 7
    assert "draws what you built" in "".join(sources(made(CODE, draws=True), "markdown"))


def test_the_same_text_gives_the_same_notebook() -> None:
    assert notebook_of_text(LESSON + CODE, EXERCISE) == notebook_of_text(LESSON + CODE, EXERCISE)
    assert "jupytext" not in notebook_of_text(LESSON + CODE, EXERCISE)


def test_the_notebooks_of_the_course_are_up_to_date() -> None:
    drawing = [name for name, drawings in load_suite(COURSE).pictures.items() if drawings]
    assert stale_notebooks(COURSE, drawing) == {}


@pytest.mark.parametrize("file", books(), ids=lambda file: file.stem)
def test_each_notebook_is_valid_has_nothing_of_the_solution_and_is_no_work(file: Path) -> None:
    import nbformat  # it takes seconds to load

    book = nbformat.reads(file.read_text("utf-8"), as_version=4)
    nbformat.validate(book)
    assert len({cell.id for cell in book.cells}) == len(book.cells)
    marks = [cell.metadata.nbgrader for cell in book.cells if "nbgrader" in cell.metadata]
    assert len({mark.grade_id for mark in marks}) == len(marks)
    assert not any(mark.grade or "points" in mark for mark in marks), "the points are those of the whole course"
    assert any(mark.solution for mark in marks)
    solution = (COURSE.solutions_dir / f"{file.stem}.py").read_text("utf-8")
    inside = solution.split(BEGIN)[1:]
    secrets = {line.strip() for part in inside for line in part.split(END)[0].splitlines() if len(line.strip()) > 25}
    stub = (COURSE.exercises_dir / f"{file.stem}.py").read_text("utf-8")
    text = "\n".join(cell.source for cell in book.cells) + json.dumps(book.metadata)
    assert not [secret for secret in secrets if secret in text and secret not in stub]
    assert not any(cell.get("outputs") for cell in book.cells)
    exercise = COURSE.exercise(file.stem)
    given = stubs_of(COURSE, [exercise])
    assert given.is_notebook(notebook_of(exercise.file), read_notebook(file.read_bytes(), LIMIT), LIMIT)


def test_without_jupytext_there_is_a_sentence(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = course / "blocked"
    blocked.mkdir()
    (blocked / "jupytext.py").write_text("raise ImportError\n")
    done = tiny.run_course(course, "build", PYTHONPATH=str(blocked))
    assert done.returncode == 2
    assert "notebooks need jupytext, which is not installed; run pip install jupytext" in done.stderr
