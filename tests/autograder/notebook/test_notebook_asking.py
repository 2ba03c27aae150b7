"""`check`, `hint`, `why` and `status` as a notebook calls them: what they say, and that they raise nothing."""

import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.formatters import DisplayFormatter

from autograder.course import make_stub
from autograder.notebook import cells
from autograder.notebook.cells import (
    Card,
    Run,
    check,
    find_earlier_exercises,
    forget_earlier_exercises,
    hint,
    status,
    why,
    work_on,
)
from autograder.progress import read_progress
from autograder.submission import notebook_of_text, read_own
from tests.support import tiny

pytestmark = pytest.mark.worker

FIRST, SECOND = tiny.COURSE.exercises
WRONG = tiny.mean_with("return x.cumsum(dim=-1)")


@pytest.fixture(autouse=True)
def _in_the_course(course: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(course)
    (course / "exercises" / "notebooks").mkdir()
    yield
    forget_earlier_exercises()


def in_a_file(course: Path, text: str) -> None:
    (course / "exercises" / FIRST.file).write_text(text, "utf-8")


def in_a_notebook(course: Path, text: str) -> Path:
    file = course / "exercises" / "notebooks" / f"{FIRST.id}.ipynb"
    file.write_text(notebook_of_text(text, FIRST), "utf-8")
    return file


def test_a_file_that_passes_returns_its_points_and_is_saved_as_progress(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    in_a_file(course, tiny.MEAN)
    earned = check("ex01", strict=True)
    assert (float(earned), earned.ok, repr(earned)) == (40.0, True, "40.0")
    said = capsys.readouterr()
    assert said.out.startswith("PASS. Exercise 01, running mean.")
    assert said.err == ""
    assert read_progress(tiny.course_at(course)).of(FIRST).passes_now


def test_a_notebook_counts_if_the_file_is_the_stub_and_locations_are_cells(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    in_a_notebook(course, WRONG)
    earned = check(1)
    assert not earned.ok
    said = capsys.readouterr().out
    assert said.startswith("FAIL. Exercise 01, running mean.")
    [place] = [line for line in said.splitlines() if line.startswith("Place: ")]
    source = read_own(tiny.course_at(course)).sources[FIRST.file].decode().splitlines()
    assert place.startswith(f"Place: {FIRST.id}.ipynb cell ")
    cell, line = map(int, re.findall(r"cell (\d+), line (\d+)", place)[0])
    cells = json.loads((course / "exercises" / "notebooks" / f"{FIRST.id}.ipynb").read_text())["cells"]
    assert cells[cell - 1]["source"][line - 1].rstrip("\n") in source
    hint("ex01")
    why()
    status()
    output = capsys.readouterr().out
    assert "Hint 1 of 3: " in output
    assert "Exercise 01 running mean, FAIL" in output


def test_a_notebook_as_handed_out_has_its_places_in_cells(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    in_a_notebook(course, (course / "exercises" / FIRST.file).read_text("utf-8"))
    check(1)
    hint(1)
    said = capsys.readouterr().out
    assert "Begin with running_mean, cell " in said
    assert "how to begin running_mean, cell " in said
    in_a_file(course, WRONG)
    check(1)
    assert f"Place: {FIRST.file} line " in capsys.readouterr().out, "work in the file counts"


def test_what_the_verdict_is_not_about_comes_before_it(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    below = "def tried():\n    return 1"
    file = in_a_notebook(course, tiny.MEAN)
    saved = json.loads(file.read_text("utf-8"))
    code = ["".join(cell["source"]) for cell in saved["cells"] if cell["cell_type"] == "code"]
    defining = next(source for source in code if "def running_mean" in source)
    ran = [Run(defining), Run(below, saved["cells"][-1].get("id"))]
    monkeypatch.setattr("autograder.notebook.cells.runs", lambda: ran)
    assert check(1).ok
    said = capsys.readouterr().out
    assert "left out" not in said
    assert "not saved" not in said, "what was tried out below the check was not checked"
    monkeypatch.setattr("autograder.notebook.cells.runs", lambda: [Run(f"{defining}\n# edited"), *ran[1:]])
    assert check(1).ok
    assert re.match(r"Cell \d+ is not saved", capsys.readouterr().out)


def test_a_question_that_has_no_answer_is_not_called_a_check(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    in_a_file(course, tiny.MEAN)
    check(1)
    capsys.readouterr()
    why("01")
    said = capsys.readouterr().out
    assert 'run `check("ex01")`' in said
    assert "NOT CHECKED" not in said


def test_the_terminal_shows_the_location_in_a_notebook_too(course: Path) -> None:
    in_a_notebook(course, WRONG)
    done = tiny.run_course(course, "check", "1")
    assert f"{FIRST.id}.ipynb, cell " in done.stdout
    assert f"exercises/notebooks/{FIRST.id}.ipynb" in done.stdout.split("Next")[1]
    shown = json.loads(tiny.run_course(course, "check", "1", "--json", "-").stdout)
    finding = next(result["finding"] for result in shown["exercises"][0]["checks"] if result["finding"])
    assert finding["place"]["file"] == f"{FIRST.id}.ipynb"
    assert all(number >= 1 for number, _ in finding["source"])


def test_a_hint_in_the_terminal_waits_for_a_change_of_the_notebook(course: Path) -> None:
    in_a_notebook(course, WRONG)
    tiny.run_course(course, "check", "1")
    assert "Hint 2 comes after" in tiny.run_course(course, "hint", "1").stdout
    in_a_notebook(course, WRONG.replace("return x.cumsum(dim=-1)", "return 2 * x.cumsum(dim=-1)"))
    assert "Hint 2 of 3" in tiny.run_course(course, "hint", "1").stdout


def test_strict_raises_and_names_what_came_of_it(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(AssertionError, match=r"check\('ex01'\): NOT STARTED, 0 of 40 points"):
        check("ex01", strict=True)
    assert capsys.readouterr().out.startswith("NOT STARTED.")


def test_an_exercise_that_does_not_exist_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert float(check("ex99")) == 0.0
    hint("nothing")
    why("no-such-misconception")
    said = capsys.readouterr()
    assert said.out.count("There is no exercise `") == 2
    assert "There is no misconception `" in said.out
    assert said.err == ""


def test_outside_of_a_course_there_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for ask in (check, hint, why, status):
        ask()
    assert capsys.readouterr().out.count("go to the folder of your course") == 4


def test_a_process_that_ends_without_a_result_is_reported_with_its_last_line(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    false = course / "python"
    false.write_text("#!/bin/sh\necho nothing good >&2\nexit 3\n")
    false.chmod(0o755)
    monkeypatch.setattr(cells.sys, "executable", str(false))  # type: ignore[attr-defined]
    assert float(check("ex01")) == 0.0
    assert "ended without a verdict (nothing good); run the cell again" in capsys.readouterr().out


def test_a_notebook_that_cannot_be_read_is_reported_and_the_file_counts(course: Path) -> None:
    in_a_file(course, tiny.MEAN)
    in_a_notebook(course, tiny.MEAN).write_text("{")
    work = work_on(tiny.course_at(course), FIRST)
    assert work.source == (course / "exercises" / FIRST.file).read_bytes()
    assert [note for note in work.notes if "is not a notebook" in note]


def test_a_stub_beside_a_notebook_that_cannot_be_read_does_not_count(course: Path) -> None:
    in_a_notebook(course, tiny.MEAN).write_text("{")
    work = work_on(tiny.course_at(course), FIRST)
    assert work.source is None, "the work lies in the notebook, and the stub would be called not started"
    assert [note for note in work.notes if "is not a notebook" in note]


@pytest.mark.parametrize("form", ["file", "notebook"])
def test_an_earlier_exercise_is_imported_from_where_it_was_finished(course: Path, form: str) -> None:
    (in_a_file if form == "file" else in_a_notebook)(course, tiny.MEAN)
    assert FIRST.id not in sys.modules
    module = __import__(FIRST.id)
    assert Path(module.__loader__.path).suffix == (".py" if form == "file" else ".ipynb")
    assert "cumsum" in module.__loader__.get_source(FIRST.id)
    forget_earlier_exercises()
    assert FIRST.id not in sys.modules


@pytest.mark.parametrize("form", ["file", "notebook"])
def test_an_earlier_exercise_is_the_same_module_under_the_name_of_its_folder(course: Path, form: str) -> None:
    (in_a_file if form == "file" else in_a_notebook)(course, tiny.MEAN)
    space: dict[str, object] = {}
    exec(f"from exercises import {FIRST.id} as a\nimport exercises.{FIRST.id} as b\nimport {FIRST.id} as c", space)
    assert space["a"] is space["b"] is space["c"]
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("exercises.notebooks")
    (in_a_file if form == "file" else in_a_notebook)(course, WRONG)
    forget_earlier_exercises()
    exec(f"from exercises import {FIRST.id} as d", space)
    assert space["d"] is not space["a"]


def test_outside_of_a_course_the_name_of_the_folder_is_left_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    find_earlier_exercises()
    [finder] = [finder for finder in sys.meta_path if type(finder).__module__ == find_earlier_exercises.__module__]
    assert finder.find_spec("exercises", None) is None
    assert finder.find_spec(f"exercises.{FIRST.id}", None) is None


def test_a_notebook_that_imports_by_the_name_of_the_folder_passes(course: Path) -> None:
    in_a_file(course, tiny.MEAN)
    text = tiny.POWER.replace(f"from {FIRST.id} import", f"from exercises.{FIRST.id} import")
    file = course / "exercises" / "notebooks" / f"{SECOND.id}.ipynb"
    file.write_text(notebook_of_text(text, SECOND), "utf-8")
    assert float(check("ex02", strict=True)) == 60.0


def test_notebooks_in_a_folder_of_their_own_are_the_work_there(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    in_a_file(course, WRONG)
    folder = course / "handed_in" / "ada"
    folder.mkdir(parents=True)
    (folder / f"{FIRST.id}.ipynb").write_text(notebook_of_text(tiny.MEAN, FIRST), "utf-8")
    monkeypatch.chdir(folder)
    assert float(check("ex01")) == 40.0
    assert __import__(FIRST.id).__loader__.path == str(folder / f"{FIRST.id}.ipynb")
    monkeypatch.chdir(course / "solutions")
    assert float(check("ex01")) < 40.0, "a folder without a notebook of the course is no folder of work"
    assert read_progress(tiny.course_at(course)).of(FIRST).runs == 2


def test_runs_of_nbgrader_are_not_saved_as_progress(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_a_file(course, tiny.MEAN)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert float(check("ex01")) == 40.0
    assert not read_progress(tiny.course_at(course)).of(FIRST).runs


def test_a_stub_in_both_forms_imports_as_the_stub(course: Path) -> None:
    in_a_notebook(course, make_stub(tiny.MEAN, FIRST))
    with pytest.raises(NotImplementedError, match="ex01: running_mean"):
        __import__(FIRST.id).running_mean(None)


def test_a_card_stands_alone_in_plain_words() -> None:
    card = Card.of("<b>√</b>", ["√4 is 2.", "one\ntwo"])
    assert card._repr_mimebundle_() == {"text/html": "<b>√</b>", "text/plain": "sqrt 4 is 2.\none two"}
    assert repr(card) == "sqrt 4 is 2.\none two"


def test_points_never_exceed_what_an_exercise_is_worth() -> None:
    assert isinstance(cells.Points(1.5), float)
    assert f"{cells.Points(1.5)!r}" == "1.5"


def test_a_cell_that_ends_with_points_shows_no_number_except_to_nbgrader(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = DisplayFormatter().format
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    assert shown(cells.Points(1.34)) == ({}, {})
    assert shown([cells.Points(1.34)])[0] == {"text/plain": "[1.34]"}
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert shown(cells.Points(1.34))[0] == {"text/plain": "1.34"}
