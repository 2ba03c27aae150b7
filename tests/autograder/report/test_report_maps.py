"""Maps of a failure: drawn where they say something, in colour or without, and never at the cost of the words."""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from autograder.report import ASCII, UNICODE, Glyphs, Page, render_exercise
from autograder.report.failures import gap_of, map_pair
from autograder.report.pictures import color_of
from autograder.report.terminal_failure import map_lines
from autograder.results import Evidence, Finding, Maps
from tests.support import report_examples as examples
from tests.support.screens import NEXT, on_terminal, printed

RGB = re.compile(r"\x1b\[([\d;]*)m([^\x1b]*)")
SMALL = Maps("row × column", ((0.0, 1.0, 2.0), (3.0, 4.0, 5.0)), ((0.0, 1.0, 2.0), (3.0, 4.0, -5.0)))


@pytest.fixture(autouse=True)
def _no_wishes_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def page(width: int = 80, colors: bool = False, glyphs: Glyphs = UNICODE) -> Page:
    console = on_terminal(width, colors="truecolor") if colors else Console(file=io.StringIO(), width=width)
    return Page.on(console, glyphs)


def rendered(console: Console, name: str = "mask", glyphs: Glyphs = UNICODE) -> str:
    render_exercise(console, examples.EXERCISES[name], file_path=None, next_commands=NEXT, glyphs=glyphs)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def map_of(maps: Maps, width: int = 80, rows: int = 8, colors: bool = False, glyphs: Glyphs = UNICODE) -> list[str]:
    pair = map_pair(maps)
    drawing = map_lines(page(width, colors, glyphs), pair, rows) if pair else None
    return [*(line.plain for line in drawing.lines), drawing.caption] if drawing else []


def test_cells_set_foreground_and_background_and_only_cells_have_such_colours() -> None:
    cells = [(codes, text) for codes, text in RGB.findall(rendered(on_terminal(colors="truecolor"))) if "8;2;" in codes]
    assert cells
    assert all("38;2;" in codes and "48;2;" in codes for codes, _ in cells)
    assert all(set(text) == {"▀"} for _, text in cells)


def test_both_maps_are_on_one_scale_around_white() -> None:
    assert color_of(0.0, 5.0) == color_of(0.0, 1.0) == (240, 240, 236)
    assert color_of(5.0, 5.0) == (213, 94, 0)
    assert color_of(-5.0, 5.0) == (0, 114, 178)
    assert color_of(None, 5.0) == (128, 128, 128)
    assert color_of(0.0, 0.0) == (240, 240, 236)


def test_256_colours_are_enough_for_maps_and_16_are_not() -> None:
    numbers = Maps("used only here: rich keeps the codes of a style", ((0.123, 4.56),) * 2, ((0.789, 0.012),) * 2)
    console = on_terminal(colors="256")
    pair = map_pair(numbers)
    assert pair is not None
    cells = map_lines(Page.on(console, UNICODE), pair, 8)
    assert cells is not None
    console.print(cells.lines[1])
    assert isinstance(console.file, io.StringIO)
    assert "48;5;" in console.file.getvalue()
    text = rendered(on_terminal(colors="standard"))
    assert "48;" not in text
    assert "where 0 is expected" in text


def test_without_colour_there_is_a_map_of_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = rendered(on_terminal(colors="truecolor"))
    assert not re.search(r"\x1b\[[\d;]*[34]8;", text)
    assert "· × × ×" in re.sub(r"\x1b\[[\d;]*m", "", text)
    assert "▀" not in text


def test_in_ascii_the_map_is_ascii_even_with_colour() -> None:
    lines = map_of(SMALL, colors=True, glyphs=ASCII)
    assert lines == ["  where they differ", "  . . .", "  . . x", "row × column; x differs"]


def test_a_map_in_which_everything_differs_is_left_to_the_numbers() -> None:
    assert map_of(Maps("", ((1.0, 2.0), (3.0, 4.0)), ((2.0, 3.0), (4.0, 5.0)))) == []
    assert map_of(Maps("", ((0.0, 0.0), (3.0, 4.0)), ((1.0, 1.0), (4.0, 5.0)))) != [], "a mask that leaks"
    assert "largest differences" in printed(examples.FAIL)


def test_a_map_in_which_nothing_can_be_seen_is_not_drawn() -> None:
    near = replace(SMALL, yours=((0.0, 1.0, 2.0), (3.0, 4.0, 5.01)))
    assert map_of(near, colors=True) == []
    assert map_of(replace(SMALL, yours=SMALL.expected), colors=True) == []
    assert map_of(replace(SMALL, yours=SMALL.expected)) == []


@pytest.mark.parametrize(
    "yours", [(), ((1.0,),), ((0.0, 1.0), (3.0, 4.0)), ((0.0, 1.0, 2.0), (3.0,)), ((), ())], ids=str
)
def test_slices_of_different_shapes_are_not_drawn(yours: tuple[tuple[float, ...], ...]) -> None:
    for colors in (True, False):
        assert map_of(replace(SMALL, yours=yours), colors=colors) == []
    assert map_pair(replace(SMALL, yours=yours)) is None


def test_what_is_not_finite_is_grey_and_the_caption_names_it() -> None:
    lines = map_of(replace(SMALL, yours=((0.0, None, 2.0), (3.0, 4.0, 5.0))), colors=True)
    assert lines[-1] == "row × column; one scale: white 0, orange +, grey not finite"


def test_a_large_slice_is_cut_and_the_caption_says_how() -> None:
    tall = tuple((float(row), 0.0) for row in range(40))
    cut = map_of(Maps("row × column", tall, tuple((value, 1.0) for value, _ in tall)), colors=True)
    assert len(cut) == 10
    assert "first 16 of 40 rows" in cut[-1]
    wide = (tuple(float(number % 2) for number in range(300)),)
    assert "columns" in map_of(Maps("a", wide, (tuple(0.5 for _ in range(300)),)), colors=True)[-1]


def test_below_60_columns_there_are_no_maps() -> None:
    assert map_of(SMALL, width=59, colors=True) == []
    assert map_of(SMALL, width=59) == []


@pytest.mark.parametrize("height", [12, 20, 24, 29])
def test_a_low_terminal_has_no_table_and_no_map_but_all_the_words(height: int) -> None:
    text = rendered(on_terminal(height=height, colors="truecolor"))
    assert "▀" not in text
    assert "row sums" not in text
    for kept in ("Every hidden position", "ex05_attention.py", "scores = scores * mask", "course why"):
        assert kept in text


def test_from_30_lines_on_there_are_maps() -> None:
    assert "▀" in rendered(on_terminal(height=36, colors="truecolor"))


@pytest.mark.long
@pytest.mark.parametrize("name", examples.EXERCISES)
@pytest.mark.parametrize("colors", ["256", "truecolor"])
def test_with_maps_a_failure_is_at_most_34_lines(name: str, colors: str) -> None:
    console = on_terminal(colors="truecolor" if colors == "truecolor" else "256", height=60)
    lines = re.sub(r"\x1b\[[\d;]*m", "", rendered(console, name)).splitlines()
    assert len(lines) <= 34
    assert all(len(line) <= 80 for line in lines)


def test_single_elements_have_a_ratio_where_all_have_the_same_and_else_a_difference() -> None:
    assert gap_of((("0", "2.0", "4.0"), ("1", "-1.5", "-3.0"))) == ("ratio", ["2", "2"])
    assert gap_of((("0", "0.000", "0.072"), ("1", "0.500", "0.450"))) == ("diff", ["+0.072", "-0.050"])
    assert gap_of((("0", "1e-7", "2.5"),)) == ("diff", ["+2.500"])
    assert gap_of((("0", "-1.5", "0.0"), ("1", "2.0", "0.0"))) == ("ratio", ["0", "0"])


@pytest.mark.parametrize("pair", [("True", "False"), ("3", "7"), ("nan", "1.0"), ("1.0", "inf"), ("a", "b")])
def test_what_cannot_be_subtracted_is_not(pair: tuple[str, str]) -> None:
    assert gap_of((("0", *pair),)) == ("", [])


def test_a_table_without_numbers_of_a_mask_is_a_table() -> None:
    rows = (("shape", "(2, 3)", "(2, 3)"), ("dtype", "bool", "bool"), ("True", "3", "5"))
    finding = Finding("pattern", "p", "It differs.", evidence=Evidence("mask", rows, (("0, 1", "False", "True"),)))
    text = printed(examples.attention("mask", "fail", finding))
    assert "× 1.67" in text
    assert "False   True" in text
