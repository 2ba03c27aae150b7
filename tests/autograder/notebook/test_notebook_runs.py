"""Notebooks of the course, run from top to bottom: with the solution, in its own kernel, and as handed out.

PROOF=all runs every one, not every ninth.
"""

import os
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from autograder.course import Course, Exercise, read_course
from autograder.progress import read_progress
from autograder.report import points_of
from autograder.submission import notebook_file, notebook_of_text
from tests.support import tiny

pytestmark = [pytest.mark.slow, pytest.mark.worker]

COURSE = read_course(tiny.REPOSITORY)
UNWRITTEN = "ex14_generation"
"""Nobody wrote anything into its files: its stub is run first, then the solution, which nobody saved."""

SOLVED = [
    exercise
    for place, exercise in enumerate(COURSE.exercises)
    if tiny.EVERYTHING or place % 9 == 0 or exercise.id == UNWRITTEN
]

FORGET = "from autograder.notebook import cells; cells._runs.clear()"
"""Lets one kernel stand for another: a check is about what was run in its own."""

AT_A_TIME = 2
SECONDS = 300


def solved(exercise: Exercise) -> str:
    return (COURSE.solutions_dir / exercise.file).read_text("utf-8")


def in_a_file(exercise: Exercise) -> bool:
    """Whether the student finished an exercise in its file: every other one; then the notebook on disk is untouched."""
    return bool(int(exercise.number) % 2)


def copied(root: Path) -> Course:
    """Copy the course, with its answer keys."""
    for part in ("exercises", "tests/exercises", "solutions"):
        shutil.copytree(COURSE.root / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(COURSE.root / "course.toml", root)
    kept = COURSE.root / ".course" / "cache"
    kept.mkdir(parents=True, exist_ok=True)
    shutil.copytree(kept, root / ".course" / "cache", copy_function=tiny.linked)
    return read_course(root)


def written_course(root: Path) -> Course:
    """Return the course as a student has it who solved all of it, in files and notebooks by turns."""
    course = copied(root)
    for exercise in course.exercises:
        if exercise.id == UNWRITTEN:
            continue
        if in_a_file(exercise):
            (course.exercises_dir / exercise.file).write_text(solved(exercise), "utf-8")
        else:
            notebook_file(course, exercise).write_text(notebook_of_text(solved(exercise), exercise), "utf-8")
    return course


def run(course: Course, exercise: Exercise, *texts: str) -> list[dict[str, Any]]:
    """Run the cells of notebooks one after the other in one kernel, and return what the last cells that check show."""
    import nbformat
    from nbclient import NotebookClient

    folder = notebook_file(course, exercise).parent
    book = nbformat.v4.new_notebook()
    for text in texts:
        for cell in nbformat.reads(text, as_version=4).cells:
            book.cells.append(cell)
    client = NotebookClient(book, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    shown = []
    environment = tiny.environment({"IPYTHONDIR": str(course.root / ".ipython"), "PYTHONPATH": _paths()})
    with client.setup_kernel(env=environment):
        for place, cell in enumerate(book.cells):
            client.execute_cell(cell, place)
            for output in cell.get("outputs", ()):
                assert (output.output_type, output.get("name")) not in {("stream", "stderr")}, output
            if cell.cell_type == "code" and cell.source.startswith("check("):
                shown.append({output.output_type: output.data for output in cell.outputs})
    return shown


def _paths() -> str:
    return os.pathsep.join(filter(None, [str(COURSE.root), os.environ.get("PYTHONPATH")]))


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return written_course(tmp_path_factory.mktemp("kit") / "course")


@pytest.fixture(scope="module")
def outcomes(course: Course) -> Mapping[str, list[dict[str, Any]]]:
    """What each notebook showed."""

    def outcome(exercise: Exercise) -> list[dict[str, Any]]:
        stub = (COURSE.exercises_dir / "notebooks" / f"{exercise.id}.ipynb").read_text("utf-8")
        before = [stub] if exercise.id == UNWRITTEN else []
        return run(course, exercise, *before, notebook_of_text(solved(exercise), exercise))

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return dict(zip([exercise.id for exercise in SOLVED], pool.map(outcome, SOLVED), strict=True))


@pytest.mark.parametrize("exercise", SOLVED, ids=lambda exercise: exercise.id)
def test_a_notebook_with_the_solution_passes_from_top_to_bottom(
    outcomes: Mapping[str, list[dict[str, Any]]], exercise: Exercise
) -> None:
    shown = outcomes[exercise.id][-1]
    card = shown["display_data"]
    assert f"PASS. Exercise {exercise.number}, " in card["text/plain"], card["text/plain"]
    assert f" {points_of(exercise.points, 0)}," in card["text/plain"]
    assert "execute_result" not in shown, "the card has the points; a bare number below it has no meaning"
    assert "<script" not in card["text/html"]
    assert "http" not in card["text/html"].replace("http://www.w3.org/2000/svg", "")
    if in_a_file(exercise):
        assert f"exercises/{exercise.file} has work too" in card["text/plain"]


def test_an_unwritten_notebook_is_not_started_and_scores_nothing(outcomes: Mapping[str, list[dict[str, Any]]]) -> None:
    untouched, written = outcomes[UNWRITTEN]
    assert untouched["display_data"]["text/plain"].startswith("NOT STARTED.")
    assert "execute_result" not in untouched
    assert "PASS." in written["display_data"]["text/plain"]
    assert "not saved in ex14_generation.ipynb as last run" in written["display_data"]["text/plain"]


def test_a_notebook_runs_as_it_was_handed_out_and_says_that_nothing_is_written(tmp_path: Path) -> None:
    import nbformat

    course = copied(tmp_path / "course")
    forgetting = nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(FORGET)]))
    texts = [notebook_file(course, exercise).read_text("utf-8") for exercise in SOLVED]
    shown = run(course, SOLVED[0], *(book for text in texts for book in (forgetting, text)))
    said = [output["display_data"]["text/plain"].split(".")[0] for output in shown]
    assert said == ["NOT STARTED"] * len(SOLVED)


def test_a_pass_is_saved_as_progress(course: Course, outcomes: Mapping[str, list[dict[str, Any]]]) -> None:
    progress = read_progress(course)
    assert [exercise.id for exercise in SOLVED if not progress.of(exercise).passes_now] == []
