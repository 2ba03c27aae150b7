"""The pictures of the documents: made by the real program, on a program that a file names."""

import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from autograder.answer_key.catalogue import read_catalogue
from autograder.authoring.pictures import main
from tests.support import tiny

WRONG = read_catalogue(tiny.ROOT / "solutions" / "misconceptions" / f"{tiny.FIRST}.toml", tiny.MEAN)[0]


@pytest.fixture(autouse=True)
def _in_the_course(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(course)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tiny.REPOSITORY), os.environ.get("PYTHONPATH", "")]))


def listed(course: Path, text: str) -> Path:
    file = course / "pictures.toml"
    file.write_text(text, "utf-8")
    return file


def text_of(svg: Path) -> str:
    return " ".join(ElementTree.fromstring(svg.read_text("utf-8")).itertext())


@pytest.mark.worker
def test_a_misconception_and_a_pass_are_drawn(course: Path) -> None:
    entry = f'exercise = "{tiny.FIRST}"\ncommand = "check 1"\n'
    file = listed(course, f'[wrong]\n{entry}misconception = "{WRONG.id}"\n\n[right]\n{entry}width = 100\n')
    before = (course / "exercises" / tiny.FILES[0]).read_bytes()
    assert main([str(file)]) == 0
    wrong, right = course / "wrong.svg", course / "right.svg"
    assert "FAIL" in text_of(wrong)
    assert "PASS" in text_of(right)
    for svg in (wrong, right):
        assert re.findall(r"https?://[^\"]*", svg.read_text("utf-8")) == ["http://www.w3.org/2000/svg"]
        assert "### BEGIN" not in text_of(svg)
    assert (course / "exercises" / tiny.FILES[0]).read_bytes() == before, "the course itself is not touched"


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ('exercise = "ex99_none"\ncommand = "check 1"', "needs an exercise of this course"),
        (f'exercise = "{tiny.FIRST}"', "and a command"),
        (f'exercise = "{tiny.FIRST}"\ncommand = "check"\nmisconception = "none"', "has no misconception none"),
        (f'exercise = "{tiny.FIRST}"\ncommand = "check"\nfind = "no such text"', "does not stand in the solution"),
        ("exercise =", "Invalid value"),
    ],
)
def test_an_entry_that_cannot_be_drawn_is_a_sentence(
    course: Path, entry: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        main([str(listed(course, f"[picture]\n{entry}\n"))])
    assert raised.value.code == 2
    assert sentence in capsys.readouterr().err
