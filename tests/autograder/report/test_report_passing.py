"""What is shown of a pass: what was achieved, what it does, and nothing louder than that."""

import html
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.style import Style

from autograder.exports.feedback import summary
from autograder.report import ASCII, UNICODE, Glyphs, Page, exercise_card, render_exercise, render_report
from autograder.report.pictures import TALLEST_PICTURE, in_words, one_picture, picture_lines
from autograder.report.states import ordinal
from autograder.report.terminal import report_sentences
from autograder.results import ExerciseResult, Flag, Picture, Place, from_json
from tests.support import report_examples as examples
from tests.support.screens import on_terminal

EVIL = "\x1b[2J\x1b]8;;http://a.b\x07click \u202ereordered [bold]x[/bold] " * 3


@pytest.fixture(autouse=True)
def _no_wishes_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def rendered(
    exercise: ExerciseResult = examples.PICTURES,
    console: Console | None = None,
    attempt: int | None = None,
    unused: Sequence[str] = (),
    plain: bool = False,
    glyphs: Glyphs = UNICODE,
) -> list[str]:
    console = console or Console(file=io.StringIO(), width=80)
    render_exercise(
        console,
        exercise,
        file_path=None,
        next_commands=(("course next", "on"),),
        glyphs=glyphs,
        plain=plain,
        attempt=attempt,
        unused_hints=unused,
    )
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def page(width: int = 80, colors: bool = False, glyphs: Glyphs = UNICODE) -> Page:
    console = on_terminal(width, colors="truecolor") if colors else Console(file=io.StringIO(), width=width)
    return Page.on(console, glyphs)


def test_a_pass_is_one_line_without_a_word_of_praise() -> None:
    lines = rendered(examples.PASS, attempt=3)
    assert lines[0] == "✓ PASS 05 attention  7 checks, 14 points, 3rd attempt"
    assert lines[1:] == ["", "  Next  course next  on"]


def test_an_attempt_that_was_not_counted_is_not_shown() -> None:
    assert "attempt" not in rendered(examples.PASS)[0]


@pytest.mark.parametrize(
    ("count", "word"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (22, "22nd"), (113, "113th")],
)
def test_attempts_are_counted_in_words(count: int, word: str) -> None:
    assert ordinal(count) == word


def test_at_most_three_hints_are_left_over_and_none_where_none_are() -> None:
    lines = rendered(unused=[f"hint {number}" for number in range(9)])
    assert [line.strip() for line in lines if "hint " in line] == ["hint 0", "hint 1", "hint 2"]
    assert "Hints you did not need" not in "\n".join(rendered())


def test_a_hint_that_is_left_over_is_shown_whole() -> None:
    hint = "Divide the sum of the numbers so far by their count. " * 3
    assert hint.strip() in " ".join(" ".join(rendered(unused=[hint])).split())


def test_a_pass_has_what_was_built_before_what_it_does_and_next_last() -> None:
    text = "\n".join(rendered(unused=("a hint",)))
    order = ("PASS", "every position asks", "What each word attends to", "Hints you did not need", "Next")
    places = [text.index(part) for part in order]
    assert places == sorted(places)


@pytest.mark.parametrize("colors", [True, False])
@pytest.mark.parametrize("picture", [examples.WAVES, examples.ATTENTION, examples.RATE], ids=["waves", "words", "bars"])
@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_picture_is_bounded_by_the_page(picture: Picture, width: int, colors: bool) -> None:
    lines = one_picture(page(width, colors), picture, TALLEST_PICTURE)
    assert len(lines) <= TALLEST_PICTURE
    assert all(line.cell_len <= width for line in lines)


def test_a_huge_picture_is_cut_and_the_caption_says_how() -> None:
    huge = Picture("big", tuple(tuple(float(row) for _ in range(500)) for row in range(300)), "a" * 90, "b" * 300)
    lines = one_picture(page(), huge, TALLEST_PICTURE)
    assert len(lines) <= TALLEST_PICTURE
    assert all(line.cell_len <= 80 for line in lines)


def test_two_pictures_are_shown_and_a_third_is_not() -> None:
    three = replace(
        examples.PASS, pictures=tuple(replace(examples.WAVES, title=f"wave {number}") for number in range(3))
    )
    for width in (80, 100):
        lines = rendered(three, on_terminal(width, height=50, colors="truecolor"))
        assert len(lines) <= 34
        text = "\n".join(lines)
        assert "wave 0" in text
        assert "wave 2" not in text


def test_pictures_leave_the_words_on_a_low_terminal() -> None:
    lines = rendered(console=on_terminal(height=10, colors="truecolor"))
    assert len(lines) < 10
    assert "Next" in lines[-1]


def test_words_stand_at_their_rows_and_columns_and_long_ones_are_cut() -> None:
    lines = [line.plain for line in one_picture(page(), examples.ATTENTION, TALLEST_PICTURE)]
    head, rows = lines[1], lines[2:9]
    assert [row.split()[0] for row in rows] == list(examples.WORDS)
    assert head.split() == [*examples.WORDS[:-1], "which…"]
    assert rows[0].index("█") == head.index("The")


def test_shades_are_ascii_where_the_glyphs_are() -> None:
    text = "\n".join(rendered(glyphs=ASCII))
    assert text.isascii()
    assert "@@@" in text


def test_cells_of_a_picture_set_both_colours() -> None:
    Style.parse.cache_clear()
    Style._add.cache_clear()  # rich keeps how a style was written to the first terminal, whatever its colours
    for exercise in (examples.PICTURES, examples.WAVES_PASS):
        text = "\n".join(rendered(exercise, on_terminal(colors="truecolor")))
        cells = [codes for codes in re.findall(r"\x1b\[([\d;]*)m▀", text) if "8;2;" in codes]
        assert cells
        assert all("38;2;" in codes and "48;2;" in codes for codes in cells)


def test_plain_says_a_picture_in_a_sentence() -> None:
    lines = rendered(plain=True, unused=("a hint",), attempt=1)
    assert lines[0].endswith("1st attempt.")
    assert "Picture: What each word attends to: 7 rows (query) and 7 columns (key)" in "\n".join(lines)
    assert "A hint you did not need: a hint." in lines


def test_a_mask_is_described_by_its_columns() -> None:
    mask = Picture("mask", ((1.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)), "query", "key", ("a", "b", "c"))
    ones = "1 in these columns and 0 in the others: a: 0, 2; b: 0 to 2; c: none."
    assert in_words(mask) == f"Picture: mask: 3 rows (query) and 3 columns (key), {ones}"


def test_many_bars_are_described_by_their_range() -> None:
    many = Picture("many", (tuple(float(-abs(number - 20)) for number in range(50)),), bars=True)
    assert in_words(many) == "Picture: many: 50 bars, heights from -29 to 0; the largest is bar 21."


def test_bars_are_piled_to_their_heights() -> None:
    lines = [line.plain for line in one_picture(page(), examples.RATE, 7)]
    assert lines[0].strip() == "The rate of each step"
    assert lines[-1].strip() == "height: rate, bars: step"
    assert [line.split()[0] for line in lines[1:-1]] == ["3.5", "2.5", "1.5", "0.5"]
    heights = [sum(line[6 + 2 * bar :][:1] == "█" for line in lines[1:-1]) for bar in range(4)]
    assert heights == [1, 4, 2, 1]


@pytest.mark.parametrize("values", [(), ((),), ((1.0,), (1.0, 2.0)), ((None, None),)])
def test_a_picture_that_is_none_is_left_out(values: tuple[tuple[float | None, ...], ...]) -> None:
    broken = Picture("broken", values)
    assert in_words(broken) == ""
    for colors in (True, False):
        lines = picture_lines(page(colors=colors), [broken], 16)
        assert not lines or values == ((None, None),)


def test_a_student_cannot_write_to_the_terminal_with_a_picture() -> None:
    values = ((0.1, 0.2), (0.3, None))
    evil = Picture(EVIL, values, EVIL, EVIL, (EVIL, EVIL), (EVIL, EVIL))
    exercise = replace(examples.PASS, built=EVIL, pictures=(evil, evil))
    for plain in (True, False):
        lines = rendered(exercise, unused=(EVIL,), plain=plain)
        assert all(line.isprintable() for line in lines)
        assert plain or all(cell_len(line) <= 80 for line in lines)


FLAGS = tuple(
    Flag(Place(file, line), found, "it compiles programs")
    for file, line, found in (
        ("ex05_attention.py", 12, "torch.jit"),
        ("ex04_masks.py", 3, EVIL),
        *[("a.py", 1, "a")] * 3,
    )
)
SENTENCE = "A person will look at `torch.jit` on line 12: it compiles programs. This costs no points."


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("shown", [examples.PASS, examples.FAIL])
def test_a_flag_says_where_a_person_will_look_and_that_it_costs_nothing(shown: ExerciseResult, plain: bool) -> None:
    text = " ".join(" ".join(rendered(replace(shown, flags=FLAGS), plain=plain)).split())
    assert SENTENCE in text
    assert "line 3 of ex04_masks.py" in text
    assert "They will look at 2 other places too." in text
    assert "\x1b" not in text
    assert SENTENCE not in " ".join(" ".join(rendered(shown, plain=plain)).split())


def test_a_flag_is_in_a_report_a_card_and_the_text_of_a_mark() -> None:
    odd = replace(examples.PASS, flags=FLAGS[:1])
    report = examples.report("ada", odd, examples.NORM)
    assert SENTENCE in re.sub("</?code>", "`", html.unescape(exercise_card(odd)))
    assert SENTENCE in summary(odd)
    assert f"Exercise 05: {SENTENCE}" in report_sentences(report, ())
    console = Console(file=io.StringIO(), width=80)
    render_report(console, report, file_paths={}, next_commands=(), glyphs=UNICODE)
    assert isinstance(console.file, io.StringIO)
    assert f"05 {SENTENCE}" in " ".join(console.file.getvalue().split())
    assert from_json(json.loads(json.dumps(report.to_json()))) == report
