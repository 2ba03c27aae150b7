"""nbgrader's own commands on the folder that `course export nbgrader-course` makes, and `course grade` beside them."""

import csv
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.course import BEGIN, END
from autograder.submission import SETUP, read_notebook, stubs_of
from tests.support import tiny

pytestmark = [
    pytest.mark.nbgrader,
    pytest.mark.worker,
    pytest.mark.skipif(find_spec("nbgrader") is None, reason="pip install -e '.[nbgrader]'"),
]

ASSIGNMENT = "a01"
FIRST, SECOND = tiny.COURSE.exercises
BOOKS = {exercise.id: f"{exercise.id}.ipynb" for exercise in tiny.COURSE.exercises}
SECONDS = 300

bounded = settings(max_examples=200, derandomize=True, deadline=None, database=None)

Book = dict[str, Any]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory, key_cache: Path) -> Path:
    return tiny.copied(tmp_path_factory.mktemp("nbgrader_commands") / "course", key_cache)


@pytest.fixture(scope="module")
def folder(course: Path) -> Path:
    """nbgrader's course folder, with the release."""
    to = course / "build" / "nbgrader"
    done = tiny.run_course(course, "export", "nbgrader-course", "--to", str(to), "--assignment", ASSIGNMENT)
    assert done.returncode == 0, done.stderr
    nbgrader(to, "generate_assignment", ASSIGNMENT)
    return to


@pytest.fixture(scope="module")
def submitted(folder: Path) -> Path:
    """Ada's notebook is right; the changes of bob and eve to theirs would stop nbgrader."""
    handed_in(folder, "ada", {FIRST.id: right(tiny.MEAN), SECOND.id: right(tiny.POWER)})
    handed_in(folder, "bob", {FIRST.id: copied_and_edited, SECOND.id: right(tiny.POWER)})
    handed_in(folder, "eve", {FIRST.id: lambda _: "{", SECOND.id: without_metadata})
    return folder / "submitted"


@pytest.fixture(scope="module")
def autograded(folder: Path, submitted: Path) -> Mapping[str, Mapping[str, float]]:
    """The marks of autograde, by student and exercise."""
    nbgrader(folder, "autograde", ASSIGNMENT)
    return marks(folder)


def nbgrader(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def environment(folder: Path) -> dict[str, str]:
    own = folder.parent / "home"
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return tiny.environment({"PATH": paths, "IPYTHONDIR": str(own), "JUPYTER_CONFIG_DIR": str(own)})


def marks(folder: Path) -> dict[str, dict[str, float]]:
    from nbgrader import api

    with api.Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        return {
            submission.student.id: {book.name: book.grades[0].auto_score for book in submission.notebooks}
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
        }


def handed_in(folder: Path, student: str, edits: Mapping[str, Callable[[Book], str]]) -> None:
    to = folder / "submitted" / student / ASSIGNMENT
    to.mkdir(parents=True)
    (to / "timestamp.txt").write_text("2026-03-03 00:00:00 UTC\n")
    for exercise, edit in edits.items():
        released = (folder / "release" / ASSIGNMENT / BOOKS[exercise]).read_text("utf-8")
        (to / BOOKS[exercise]).write_text(edit(json.loads(released)), "utf-8")


def marked(book: Book, role: str) -> list[dict[str, Any]]:
    return [cell for cell in book["cells"] if cell["metadata"].get("nbgrader", {}).get(role)]


def fill(book: Book, text: str) -> Book:
    """Put a program into the last cell to fill in, and leave the others empty."""
    *others, cell = marked(book, "solution")
    for other in others:
        other["source"] = ""
    cell["source"] = text.replace(BEGIN, "").replace(END, "")
    return book


def right(text: str) -> Callable[[Book], str]:
    return lambda book: json.dumps(fill(book, text))


def copied_and_edited(book: Book) -> str:
    """Return a wrong program in a notebook of which cells were copied, and marks edited."""
    fill(book, tiny.mean_with("return (x.cumsum(dim=-1) / count).float()"))
    answer, [check] = marked(book, "solution")[-1], marked(book, "grade")
    place = book["cells"].index(answer)
    book["cells"].insert(place, json.loads(json.dumps(answer)))
    book["cells"].append({**json.loads(json.dumps(check)), "source": '40.0  # check("ex01")'})
    check["metadata"]["nbgrader"] |= {"points": 4000, "schema_version": 2, "locked": False, "strange": []}
    answer["metadata"]["nbgrader"] |= {"schema_version": 99, "cell_type": "markdown", "grade": "yes"}
    book["metadata"]["kernelspec"] = {"name": "no_such_kernel", "display_name": "none"}
    return json.dumps(book)


def without_metadata(book: Book) -> str:
    """Return a right program in a notebook that lost all marks, the cells of the kit, and the name of `check`."""
    answer = marked(fill(book, tiny.POWER_ALONE), "solution")[-1]
    source = "import sys\nprint('careful', file=sys.stderr)\n\n\ndef check(_):\n    return None\n"
    cells = [book["cells"][0], answer, {"cell_type": "code", "source": source}]
    return json.dumps({"nbformat": 4, "cells": [{**cell, "metadata": None} for cell in cells]})


texts = st.sampled_from(["", "x = 1", "# words", 'check("ex01")', "from autograder.notebook import check"])
values = st.none() | st.booleans() | st.integers(-2, 9) | st.sampled_from(["answer", "check", "gone", "markdown"])
names = st.sampled_from(["grade_id", "grade", "solution", "locked", "task", "points", "schema_version", "cell_type"])
damaged = st.fixed_dictionaries(
    {"cell_type": st.sampled_from(["code", "markdown", "raw", "none"]), "source": texts | st.lists(texts, max_size=2)},
    optional={
        "id": st.sampled_from(["", "a", 1]),
        "outputs": st.just("none"),
        "metadata": st.none() | st.fixed_dictionaries({"nbgrader": values | st.dictionaries(names, values)}),
    },
)


@bounded
@given(st.lists(damaged, max_size=5).map(lambda cells: json.dumps({"cells": cells}).encode()) | st.binary(max_size=9))
def test_any_file_becomes_a_notebook_that_nbgrader_takes(data: bytes) -> None:
    import nbformat
    from nbgrader.nbgraderformat import MetadataValidator

    from autograder.exports.nbgrader_plugins import Released, repaired

    mark = {"schema_version": 3, "cell_type": "code", "checksum": "0" * 32, "task": False}
    answer = {**mark, "grade_id": "answer", "grade": False, "solution": True, "locked": False}
    check = {**mark, "grade_id": "check", "grade": True, "solution": False, "locked": True, "points": 4.0}
    released = {
        "answer": Released("answer", "code", None, answer),
        "check": Released("check", "code", 'check("ex01")', check),
    }
    book = repaired(data, released)
    nbformat.validate(book)
    MetadataValidator().validate_nb(book)
    [place] = [at for at, cell in enumerate(book.cells) if cell.metadata.get("nbgrader", {}).get("grade")]
    assert [cell.source for cell in book.cells[place - 1 : place + 1]] == [SETUP, 'check("ex01")']
    again = repaired(nbformat.writes(book).encode(), released)
    assert [(cell.source, cell.metadata) for cell in again.cells] == [
        (cell.source, cell.metadata) for cell in book.cells
    ]


def test_the_release_is_the_notebook_of_the_course_and_no_work(course: Path, folder: Path) -> None:
    read = tiny.course_at(course)
    for exercise in read.exercises:
        file = folder / "release" / ASSIGNMENT / BOOKS[exercise.id]
        assert BEGIN in (folder / "source" / ASSIGNMENT / file.name).read_text("utf-8")
        assert BEGIN not in file.read_text("utf-8")
        assert stubs_of(read, [exercise]).is_notebook(file.name, read_notebook(file.read_bytes(), 1 << 18), 1 << 18)


@pytest.mark.slow
def test_nbgrader_validates_the_source_and_finds_nothing_in_the_release(folder: Path) -> None:
    source, release = (folder / stage / ASSIGNMENT / BOOKS[FIRST.id] for stage in ("source", "release"))
    assert "Success! Your notebook passes all the tests." in nbgrader(folder, "validate", str(source))
    assert "Success! The notebook does not pass any tests." in nbgrader(folder, "validate", "--invert", str(release))


@pytest.mark.slow
def test_everybody_is_graded_and_both_ways_give_the_same_marks(
    course: Path, folder: Path, autograded: Mapping[str, Mapping[str, float]]
) -> None:
    assert autograded["ada"] == {FIRST.id: 40.0, SECOND.id: 60.0}
    assert 0 < autograded["bob"][FIRST.id] < 40
    assert autograded["eve"] == {FIRST.id: 0.0, SECOND.id: 60.0}
    done = tiny.run_course(course, "grade", f"{folder}/submitted", "--out", "grades", "--seed", "5", *tiny.TRUSTED[1:])
    assert done.returncode == 0, done.stderr
    reports = {
        report["submission"]["student"]: report["exercises"] for report in tiny.timeless(course / "grades").values()
    }
    graded = {
        name: {exercise["id"]: exercise["score"] / 100 for exercise in exercises} for name, exercises in reports.items()
    }
    assert autograded == graded
    url = f"sqlite:///{folder}/gradebook.db"
    exported = tiny.run_course(course, "export", "nbgrader", "grades", "--to", url, "--assignment", ASSIGNMENT)
    assert "0 students, 0 submissions, 0 grades; " in exported.stdout, exported.stdout + exported.stderr
    assert marks(folder) == graded


@pytest.mark.slow
def test_what_students_ran_while_nbgrader_graded_is_nobodys_progress(
    course: Path, autograded: Mapping[str, Mapping[str, float]]
) -> None:
    assert not (course / ".course" / "progress.json").exists()
    assert not (course / ".course" / "events.jsonl").exists()


@pytest.mark.slow
def test_feedback_shows_the_card_and_nothing_of_the_solutions_or_the_checks(
    course: Path, folder: Path, autograded: Mapping[str, Mapping[str, float]]
) -> None:
    nbgrader(folder, "generate_feedback", ASSIGNMENT)
    pages = {file.parts[-3:]: file.read_text("utf-8") for file in (folder / "feedback").rglob("*.html")}
    assert len(pages) == 6
    card = pages["bob", ASSIGNMENT, f"{FIRST.id}.html"]
    assert "running mean" in card
    assert f"{autograded['bob'][FIRST.id]:g} of 40 points" in card
    unreadable = pages["eve", ASSIGNMENT, f"{FIRST.id}.html"]
    assert "is not a notebook: its JSON cannot be read" in unreadable
    solution = [line for line in tiny.MEAN.split(BEGIN)[1].split(END)[0].splitlines() if len(line.split()) > 3]
    checks = (course / "tests" / "exercises" / f"test_{FIRST.id}.py").read_text("utf-8").splitlines()
    texts = [check for check in (*solution, *checks) if len(check.split()) > 3]
    assert texts
    for page in (card, unreadable):
        shown = re.sub(r"<[^>]+>", "", page)
        assert not [text for text in texts if text.strip() in shown and text.strip() not in tiny.mean_with("")]


@pytest.mark.slow
def test_export_and_formgrader_go_on_from_there(folder: Path, autograded: Mapping[str, Mapping[str, float]]) -> None:
    nbgrader(folder, "export", "--to", "grades.csv")
    with (folder / "grades.csv").open(newline="", encoding="utf-8") as file:
        exported = {row["student_id"]: float(row["raw_score"]) for row in csv.DictReader(file)}
    assert exported == {student: pytest.approx(sum(scores.values())) for student, scores in autograded.items()}
    with formgrader(folder) as get:
        found = json.loads(get(f"api/submitted_notebooks/{ASSIGNMENT}/{FIRST.id}"))
        assert {row["student"]: row["score"] for row in found} == {
            student: row[FIRST.id] for student, row in autograded.items()
        }
        [bob] = [row["id"] for row in found if row["student"] == "bob"]
        assert "ex01-check" in get(f"submissions/{bob}/")
        for page in ("manage_assignments", "gradebook", f"gradebook/{ASSIGNMENT}", "manage_students"):
            assert "nbgrader" in get(page)


class formgrader:  # noqa: N801
    """A server with formgrader; gives a function that gets a page of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> Callable[[str], str]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        wanted = {
            "ServerApp.port": port,
            "ServerApp.port_retries": 0,
            "ServerApp.open_browser": False,
            "ServerApp.root_dir": str(self.folder),
            "ServerApp.jpserver_extensions": '{"nbgrader.server_extensions.formgrader": True}',
            "IdentityProvider.token": "t",
        }
        options = [f"--{name}={value}" for name, value in wanted.items()]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jupyter_server", "--allow-root", *options],
            cwd=self.folder,
            env=environment(self.folder),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

        def get(page: str) -> str:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/formgrader/{page}?token=t", timeout=60) as answer:
                return str(answer.read().decode("utf-8"))

        until = time.monotonic() + 60
        while True:
            try:
                get("api/assignments")
                return get
            except urllib.error.URLError:
                assert self.process.poll() is None, "the server has ended"
                assert time.monotonic() < until, "the server does not answer"
                time.sleep(0.3)

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()


def test_a_second_export_keeps_a_configuration_that_was_changed(course: Path, folder: Path) -> None:
    config = folder / "nbgrader_config.py"
    config.write_text(config.read_text("utf-8") + "c.CourseDirectory.groupshared = False\n", "utf-8")
    done = tiny.run_course(course, "export", "nbgrader-course", "--to", str(folder), "--assignment", ASSIGNMENT)
    assert "nbgrader_config.py was changed since it was made, so it stays" in done.stderr
    assert config.read_text("utf-8").endswith("groupshared = False\n")


@pytest.mark.parametrize("place", [".", "exercises/nbgrader", "..", "../elsewhere"])
def test_a_folder_from_which_the_course_is_not_found_is_refused(course: Path, place: str) -> None:
    done = tiny.run_course(course, "export", "nbgrader-course", "--to", place)
    assert done.returncode == 2
    assert "cannot be nbgrader's course folder" in done.stderr
    assert "like build/nbgrader" in done.stderr


def test_a_bonus_exercise_is_worth_nothing_there(tmp_path: Path) -> None:
    course = tiny.copied(tmp_path / "course")
    with (course / "course.toml").open("a") as file:
        file.write(f'\n[grading]\nbonus = ["{SECOND.id}"]\n')
    done = tiny.run_course(course, "export", "nbgrader-course", "--to", str(course / "nb"), "--assignment", ASSIGNMENT)
    assert done.returncode == 0, done.stderr
    book = json.loads((course / "nb" / "source" / ASSIGNMENT / BOOKS[SECOND.id]).read_text("utf-8"))
    [check] = marked(book, "grade")
    assert (check["source"], check["metadata"]["nbgrader"]["points"]) == (['check("ex02");'], 0.0)


def test_an_assignment_of_the_course_has_its_exercises_and_what_they_need(tmp_path: Path) -> None:
    course = tiny.copied(tmp_path / "course")
    weeks = [
        f'\n[[assignments]]\nid = "week{n}"\ntitle = "Week {n}"\nexercises = ["{one.id}"]\n'
        for n, one in ((1, FIRST), (2, SECOND))
    ]
    text = (course / "course.toml").read_text("utf-8")
    (course / "course.toml").write_text(text + "".join(weeks), "utf-8")
    worth = {}
    for week in ("week1", "week2"):
        done = tiny.run_course(course, "export", "nbgrader-course", "--to", str(course / "nb"), "--assignment", week)
        assert done.returncode == 0, done.stderr
        for book in (course / "nb" / "source" / week).glob("*.ipynb"):
            [check] = marked(json.loads(book.read_text("utf-8")), "grade")
            worth[week, book.stem] = check["metadata"]["nbgrader"]["points"]
    needed = {("week2", one): 0.0 for one in SECOND.needs}
    assert worth == {("week1", FIRST.id): 40.0, ("week2", SECOND.id): 60.0, **needed}


@pytest.mark.slow
def test_points_that_change_after_the_class_was_collected_keep_what_was_submitted(
    tmp_path: Path, key_cache: Path
) -> None:
    course = tiny.copied(tmp_path / "course", key_cache)
    folder = course / "build" / "nbgrader"
    release = ("export", "nbgrader-course", "--to", str(folder), "--assignment", ASSIGNMENT)
    assert tiny.run_course(course, *release).returncode == 0
    nbgrader(folder, "generate_assignment", ASSIGNMENT)
    handed_in(folder, "ada", {FIRST.id: right(tiny.MEAN), SECOND.id: right(tiny.POWER)})
    before = (folder / "submitted" / "ada" / ASSIGNMENT / BOOKS[FIRST.id]).read_bytes()
    grade = ("grade", str(folder / "submitted"), "--layout", "nbgrader", "--out", "out", "--seed", "5", *tiny.TRUSTED)
    export = ("export", "nbgrader", "out", "--to", f"sqlite:///{folder}/gradebook.db", "--assignment", ASSIGNMENT)
    for command in (grade, export):
        done = tiny.run_course(course, *command)
        assert done.returncode == 0, done.stderr
    assert marks(folder)["ada"] == {FIRST.id: 40.0, SECOND.id: 60.0}
    settings = course / "course.toml"
    settings.write_text(
        settings.read_text("utf-8").replace("points = 40", "points = 30").replace("points = 60", "points = 70")
    )
    done = tiny.run_course(course, *grade)
    assert "0 graded, 1 kept from before, 1 with points counted again" in done.stdout
    done = tiny.run_course(course, *export)
    assert done.returncode == 2
    assert "what students submitted stays as it is" in done.stderr
    assert tiny.run_course(course, *release).returncode == 0
    nbgrader(folder, "generate_assignment", ASSIGNMENT, "--force")
    done = tiny.run_course(course, *export)
    assert done.returncode == 0, done.stderr
    assert marks(folder)["ada"] == {FIRST.id: 30.0, SECOND.id: 70.0}
    assert (folder / "submitted" / "ada" / ASSIGNMENT / BOOKS[FIRST.id]).read_bytes() == before


@pytest.mark.slow
def test_what_a_person_entered_in_nbgrader_comes_in_once(tmp_path: Path, key_cache: Path) -> None:
    from nbgrader import api

    course = tiny.copied(tmp_path / "course", key_cache)
    tiny.handed_in(tmp_path / "hand_in" / "ada", tiny.mean_with("return x.cumsum(dim=-1)"), tiny.POWER_ALONE)
    url = f"sqlite:///{course}/gradebook.db"
    grade = ("grade", str(tmp_path / "hand_in"), "--out", "out", "--seed", "5", *tiny.TRUSTED)
    export = ("export", "nbgrader", "out", "--to", url, "--assignment", ASSIGNMENT)
    take_over = ("adjust", "--by", "Grace", "--from-nbgrader", url, "--assignment", ASSIGNMENT)
    for command in (grade, export):
        done = tiny.run_course(course, *command)
        assert done.returncode == 0, done.stderr
    assert "0 rows added" in tiny.run_course(course, *take_over).stdout
    with api.Gradebook(url) as gradebook:
        submission = gradebook.assignment_submissions(ASSIGNMENT)[0]
        notebook = next(book for book in submission.notebooks if book.name == FIRST.id)
        notebook.grades[0].manual_score = 25.0
        notebook.grades[0].extra_credit = 1.5
        notebook.comments[0].manual_comment = "a good idea"
        gradebook.db.commit()
    done = tiny.run_course(course, *take_over)
    assert "ada: 26.5 points for exercise 01, by Grace on" in done.stdout, done.stderr
    assert "a good idea (in nbgrader)" in done.stdout
    assert "0 rows added" in tiny.run_course(course, "adjust", "--by", "Alan", *take_over[3:]).stdout
    done = tiny.run_course(course, "export", "scores", "out", "--to", "scores.csv")
    assert ",86.50,100.00," in (course / "scores.csv").read_text("utf-8"), done.stderr
    assert tiny.run_course(course, *export).returncode == 0
    with api.Gradebook(url) as gradebook:
        assert gradebook.assignment_submissions(ASSIGNMENT)[0].score == 86.5
    done = tiny.run_course(course, *take_over[:-1], "other")
    assert (done.returncode, f"no assignment other, only: {ASSIGNMENT}" in done.stderr) == (2, True)
