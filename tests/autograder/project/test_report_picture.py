"""The picture of a terminal: it stands alone, and shows what was printed where it was printed."""

import re
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from autograder.report.picture import CELL, CHROMIUMS, DARK, LIGHT, MARGIN, draw, main, terminal_output

RED_WORD = "plain \x1b[1;31mred\x1b[0m\n  \x1b[32m✓\x1b[0m <x & y>\n"
SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_is_xml_that_refers_to_nothing_outside() -> None:
    picture = draw(RED_WORD + "\x01\x00", DARK, 80, 'a "title" <&').svg
    ElementTree.fromstring(picture)
    assert re.findall(r"https?://[^\"]*", picture) == ["http://www.w3.org/2000/svg"]
    assert "font-face" not in picture
    assert "href" not in picture


def test_text_stands_at_its_column_in_its_colour() -> None:
    spans = list(ElementTree.fromstring(draw(RED_WORD, LIGHT, 40).svg).iter(f"{SVG}tspan"))
    assert [each.text for each in spans] == ["plain", "red", "✓", "<x & y>"]
    assert [float(each.attrib["x"]) for each in spans] == pytest.approx(
        [MARGIN + column * CELL for column in (0, 6, 2, 4)], abs=0.01
    )
    assert spans[1].attrib["fill"] == LIGHT.colors[1]
    assert spans[1].attrib["font-weight"] == "bold"


@pytest.mark.worker
def test_a_command_is_run_as_on_a_terminal_of_that_width() -> None:
    program = "import os; print(os.environ['COLUMNS'], os.environ['FORCE_COLOR'], 'NO_COLOR' in os.environ); exit(1)"
    assert terminal_output([sys.executable, "-c", program], 72) == "72 1 False"


@pytest.mark.worker
def test_the_command_line_writes_an_svg(tmp_path: Path) -> None:
    out = tmp_path / "out.svg"
    assert main([str(out), "--title", "course check", "--", sys.executable, "-c", "print('--plain')"]) == 0
    assert "--plain" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("arguments", [["out.gif", "--", sys.executable], ["out.svg", "--", "no-such-command"]])
def test_a_usage_error_is_a_sentence(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.browser
@pytest.mark.skipif(not any(map(shutil.which, CHROMIUMS)), reason="needs Chromium")
def test_a_png_is_twice_as_large(tmp_path: Path) -> None:
    out = tmp_path / "out.png"
    main([str(out), "--width", "60", "--", sys.executable, "-c", "print(1)"])
    data = out.read_bytes()
    picture = draw("1", DARK, 60)
    assert (int.from_bytes(data[16:20]), int.from_bytes(data[20:24])) == (2 * picture.width, 2 * picture.height)
