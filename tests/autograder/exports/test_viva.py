"""Pages of questions for a class: one for each student, and the answers on the teacher's copy only."""

import html
import re
from pathlib import Path

import pytest

from autograder.course import UsageError
from autograder.exports.formats import ExportOptions
from autograder.exports.viva import FORMATS, viva
from tests.support import tiny

HOSTILE = tiny.POWER.replace("def ", "# </pre><script>alert('x')</script>\ndef ", 1) + "\nprint('\\x1b[31m<b>')\n"


@pytest.fixture(scope="module")
def graded(key_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a course, three hand-ins, and their reports."""
    folder = tmp_path_factory.mktemp("viva")
    course = tiny.copied(folder / "course", key_cache)
    tiny.handed_in(folder / "class" / "ada")
    tiny.handed_in(folder / "class" / "bob")
    tiny.handed_in(folder / "class" / "eve", tiny.mean_with("return x"), HOSTILE)
    done = tiny.run_course(course, "grade", "../class", "--out", "../out", *tiny.TRUSTED)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.worker
def test_the_page_of_a_student_has_questions_and_no_answer(graded: Path) -> None:
    words = ("export", "viva", "../out", "--submissions", "../class", "--isolation", "process", "--to", "../pages")
    done = tiny.run_course(graded / "course", *words)
    assert done.returncode == 0, done.stderr
    assert "the answers are in answers.html" in done.stdout
    pages = {file.stem: file.read_text("utf-8") for file in (graded / "pages").iterdir()}
    assert sorted(pages) == ["ada", "answers", "bob", "eve"]
    assert 'class="answer"' in pages["answers"]
    assert " <code>" in pages["ada"]
    assert not re.search(r"\w<code>|</code>\w", "".join(pages.values())), "a space is between a word and code"
    asked = {name: re.findall(r"<h2>\d+\. .*?</h2>.*?<p>.*?</p>", text, re.DOTALL) for name, text in pages.items()}
    assert asked["ada"]
    assert asked["ada"] != asked["bob"], "neighbours with one program get other questions"
    for name in ("ada", "bob", "eve"):
        assert "When it ran" not in pages[name]
        assert all(question.split("</h2>")[1] in pages["answers"] for question in asked[name])
    assert "01 running mean does not pass" in html.unescape(pages["eve"])
    assert "<script" not in "".join(pages.values())
    assert "\x1b" not in "".join(pages.values())


@pytest.mark.worker
def test_a_sheet_has_room_to_answer_and_one_program_may_be_for_all(graded: Path) -> None:
    words = ("export", "viva", "../out", "--submissions", "../class", "--to", "../sheet", "--sheet", "one")
    done = tiny.run_course(graded / "course", *words)
    assert done.returncode == 0, done.stderr
    assert sorted(file.name for file in (graded / "sheet").iterdir()) == ["answers.html", "sheet.html"]
    sheet = (graded / "sheet" / "sheet.html").read_text("utf-8")
    assert "Name: ____" in sheet
    assert re.search(r"\d+ minutes, without a computer", sheet)
    assert "When it ran" not in sheet


@pytest.mark.worker
def test_without_the_submissions_it_says_what_is_missing(graded: Path) -> None:
    with pytest.raises(UsageError, match="needs --submissions DIR"):
        viva(ExportOptions("viva", str(graded / "none")), None)
    assert not (graded / "none").exists()
    assert FORMATS[0].name == "viva"
