"""The pictures of the documents: they show what the real program prints about a listed program."""

import os
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from autograder.answer_key import read_catalogue
from docs.pictures.draw import LINE, main, terminal_output, terminal_svg
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
        (f'exercise = "{tiny.FIRST}"\ncommand = "check"\nfind = "no such text"', "does not contain"),
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


def test_a_picture_is_xml_that_refers_to_nothing_outside() -> None:
    picture = terminal_svg("plain \x1b[1;31mred\x1b[0m\n  <x & y>", 80, 'a "title" <&', "red")
    assert " ".join(ElementTree.fromstring(picture).itertext()).split()[-4:] == ["red", "<x", "&", "y>"]
    assert "font-face" not in picture
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")
    assert "fill: #ff6b6b;font-weight: bold" in picture


def test_half_blocks_are_rectangles_without_seams() -> None:
    cell = "\x1b[38;2;213;94;0m\x1b[48;2;0;114;178m▀▀\x1b[0m"
    picture = terminal_svg(f"{cell}\n{cell}", 80, "map", "map")
    upper = re.findall(rf'<rect class="map-r\d" x="0" y="([\d.]+)" width="24.4" height="{LINE / 2:g}"', picture)
    lower = re.findall(r'<rect fill="#0072b2" x="0" y="([\d.]+)" width="24.4"', picture)
    assert [float(top) for top in upper] == [float(top) for top in lower] == [1.5, 1.5 + LINE]
    assert "▀" not in picture


@pytest.mark.worker
def test_a_command_runs_as_on_a_terminal_of_that_width(tmp_path: Path) -> None:
    program = "import os; print(os.environ['COLUMNS'], os.environ['FORCE_COLOR'], 'NO_COLOR' in os.environ); exit(1)"
    assert terminal_output([sys.executable, "-c", program], 72, tmp_path) == "72 1 False"
