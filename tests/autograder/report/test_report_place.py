"""The location of a fault: the line, the carets under it, and the words beside it."""

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from autograder.report import AGREES, ASCII, UNICODE, Glyphs, Page
from autograder.report.failures import LEGEND, location_of
from autograder.report.terminal_failure import location_lines
from autograder.results import Certainty, Finding, Place
from tests.support import report_examples as examples

SOURCE = ((20, "    def forward(self, x):"), (21, "        scores = query @ key"), (22, "        return scores"))


def pointing(
    place: Place, source: tuple[tuple[int, str], ...] = SOURCE, width: int = 80, **fields: object
) -> list[str]:
    """Return the lines that show this place."""
    finding = replace(Finding("place", "p", "It differs.", place=place, source=source), **fields)  # type: ignore[arg-type]
    return lines_of(finding, width)


def lines_of(finding: Finding, width: int = 80, glyphs: Glyphs = UNICODE) -> list[str]:
    location = location_of("fail", finding)
    assert location is not None
    page = Page.on(Console(file=io.StringIO(), width=width), glyphs)
    return [line.plain for line in location_lines(page, location, None)]


def at(column: int | None, end: int | None) -> Place:
    return Place("ex05_attention.py", 21, "Attention.forward", column, end)


def test_the_caret_stands_under_the_characters_of_the_place() -> None:
    lines = pointing(at(17, 28), label="it grows")
    marked = next(place for place, line in enumerate(lines) if "▸" in line)
    start = lines[marked].index("query @ key")
    assert lines[marked + 1][start:] == "^^^^^^^^^^^  it grows"
    assert lines[marked + 1][:start].strip(" │") == ""


@pytest.mark.parametrize(
    "text", ["\tscores = f(漢字, query @ key)", "    s = '\x07' + query @ key", "\x1b[1mquery @ key"]
)
def test_the_caret_follows_tabs_wide_letters_and_escapes(text: str) -> None:
    column = text.index("query")
    lines = pointing(at(column, column + len("query @ key")), source=((21, text),))
    shown, caret = lines[-2], lines[-1]
    assert cell_len(shown[: shown.index("query")]) == cell_len(caret[: caret.index("^")])
    assert caret.count("^") == len("query @ key")


@pytest.mark.parametrize(
    ("column", "end"), [(None, None), (-5, 3), (17, 2), (17, None), (900, 990), (0, 0), (10**9, 1)]
)
def test_a_caret_that_cannot_be_drawn_still_leaves_line_and_label(column: int | None, end: int | None) -> None:
    text = "\n".join(pointing(at(column, end), label="it grows"))
    assert "▸ 21 │" in text
    assert "it grows" in text


def test_a_caret_to_an_end_on_a_later_line_goes_to_the_end_of_its_own() -> None:
    lines = pointing(at(17, None))
    assert next(line for line in lines if "^" in line).count("^") == len("query @ key")


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_label_without_room_beside_stands_below(width: int) -> None:
    label = "a sum of products grows with the number of its terms, and so does this"
    lines = pointing(at(17, 28), width=width, label=label)
    assert label in " ".join(" ".join(line.split("│")[-1] for line in lines).split())
    assert all(cell_len(line) <= width for line in lines)


def test_lines_that_agree_have_a_mark_and_the_legend_stands_once() -> None:
    lines = pointing(at(17, 28), agrees=(12, 20, 21))
    assert sum(AGREES in line for line in lines) == 1
    assert [line.strip()[:4] for line in lines if line.strip().startswith(("✓", "▸"))] == ["✓ 20", "▸ 21"]


def test_a_line_that_leaves_no_room_has_the_word_below() -> None:
    long = ((20, f"    x = {'y + ' * 40}1"), *SOURCE[1:])
    assert pointing(at(17, 28), source=long, agrees=(20,))[-1] == f"  ✓ {LEGEND}"


def test_a_place_that_is_likely_is_probable() -> None:
    assert "in Attention.forward(), probably here" in pointing(at(17, 28), certainty=Certainty.LIKELY)[0]
    assert "probably" not in pointing(at(17, 28))[0]
    returned = pointing(replace(at(None, None), line=22), kind="pattern", certainty=Certainty.LIKELY)[0]
    assert "returned here" in returned  # a fact, whatever the mistake is


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        ("DecoderBlock.forward", "in DecoderBlock.forward()"),
        ("make.<locals>.inner", "in inner()"),
        ("Block.forward.<locals>.<lambda>", "in Block.forward()"),
        ("<module>", ""),
        (None, ""),
    ],
)
def test_a_function_is_named_with_its_class(function: str | None, shown: str) -> None:
    first = pointing(replace(at(17, 28), function=function))[0]
    assert (shown in first) if shown else ("()" not in first)


def test_a_return_is_called_one() -> None:
    place = replace(at(None, None), line=22)
    assert "returned here" in pointing(place, kind="pattern")[0]
    raised = location_of(
        "error", Finding("misconception", "p", "It differs.", place=place, source=SOURCE, agrees=(20,))
    )
    assert raised is not None
    assert raised.circumstance == "", "a line that raised returned nothing"
    assert "set here" in pointing(at(None, None), kind="pattern")[0]


def test_a_function_that_should_raise_is_reported_to_raise_nothing() -> None:
    place = replace(at(None, None), line=20)
    assert "raises nothing" in pointing(place, kind="pattern", id="raises")[0]
    assert "nothing" not in pointing(place, kind="pattern")[0], "a default value that is wrong, for example"


def test_ascii_has_a_caret_too() -> None:
    text = "\n".join(lines_of(examples.UNSCALED, glyphs=ASCII))
    assert text.isascii()
    assert "^^^^" in text
    assert "its size grows with sqrt K" in text
