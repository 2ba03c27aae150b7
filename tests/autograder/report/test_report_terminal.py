"""What a learner and an instructor see in the terminal, against texts that were read and found good.

Write the texts anew, and read them before they stay:

    UPDATE_SNAPSHOTS=1 pytest tests/autograder/report/test_report_terminal.py
"""

import io
import re
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from autograder.cli.screen import Screen
from autograder.gradebook import render_class
from autograder.report import (
    ASCII,
    UNICODE,
    Glyphs,
    Page,
    check_state,
    folded,
    glyphs_for,
    one_line,
    printable,
    render_exercise,
    render_report,
    report_console,
    spoken,
    wrapped,
)
from autograder.report.failures import Witnesses
from autograder.report.pictures import next_lines
from autograder.report.terminal import REQUIRES, UNJUDGED, top_lines
from autograder.report.terminal_failure import element_lines
from autograder.results import Evidence, Finding, Maps, Place, PrintOutput
from tests.support import report_examples as examples
from tests.support.screens import NEXT, Terminal, assert_as_read, on_terminal, printed

FILE_PATH = Path("/course/exercises") / examples.FILE
RETRY = (("course check 5", "run it again"),)
ON = (("course next", "on to 06 multi-head attention"),)
NEXT_OF = {
    "pass": ON,
    "pictures": ON,
    "waves": ON,
    "grader-problem": RETRY,
    "missing": RETRY,
    "waits": RETRY,
    "not-started": NEXT[:2],
}


@pytest.fixture(autouse=True)
def _no_wishes_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def rendered(
    name: str,
    width: int = 80,
    *,
    glyphs: Glyphs = UNICODE,
    plain: bool = False,
    console: Console | None = None,
) -> str:
    """Return what is printed for an example."""
    console = console or Console(file=io.StringIO(), width=width, force_terminal=False)
    if name == "class":
        render_class(console, examples.CLASS, glyphs=glyphs, plain=plain)
    elif name == "report":
        paths = {examples.FILE: FILE_PATH}
        render_report(console, examples.ONE_STUDENT, file_paths=paths, next_commands=NEXT, glyphs=glyphs, plain=plain)
    else:
        exercise, commands = examples.EXERCISES[name], NEXT_OF.get(name, NEXT)
        render_exercise(console, exercise, file_path=FILE_PATH, next_commands=commands, glyphs=glyphs, plain=plain)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def shown_with(finding: Finding, hints: Sequence[str] = (), prints: Sequence[str] = (), width: int = 80) -> str:
    """Return what is printed for a failure with this finding."""
    exercise = examples.attention("scaled", "fail", finding)
    checks = tuple(replace(check, hints=tuple(hints)) if check.id == "scaled" else check for check in exercise.checks)
    outputs = tuple(PrintOutput(text, "scaled", trial) for trial, text in enumerate(prints, 1))
    return printed(replace(exercise, checks=checks, prints=outputs), width=width)


def escapes_shown(text: str) -> str:
    """Return the text with its escapes visible, and without the ids that differ from run to run."""
    return re.sub(r"\x1b\]8;id=[^;]*;", "\x1b]8;id=;", text).replace("\x1b", "\\e")


@pytest.mark.parametrize("name", [*examples.EXERCISES, "report", "class"])
def test_each_state_at_80_columns_is_as_read(name: str) -> None:
    assert_as_read(f"{name}-80", rendered(name))


@pytest.mark.parametrize("width", [100, 60, 40])
@pytest.mark.parametrize("name", ["fail", "mask", "error", "pictures", "report", "class"])
def test_other_widths_are_as_read(name: str, width: int) -> None:
    assert_as_read(f"{name}-{width}", rendered(name, width))


@pytest.mark.parametrize("name", ["fail", "mask", "shape", "pictures", "grader-problem", "class"])
def test_ascii_is_as_read_and_is_ascii(name: str) -> None:
    text = rendered(name, glyphs=ASCII)
    assert text.isascii()
    assert_as_read(f"{name}-80-ascii", text)


@pytest.mark.parametrize("name", [*examples.EXERCISES, "report", "class"])
def test_plain_sentences_are_as_read(name: str) -> None:
    assert_as_read(f"{name}-plain", rendered(name, plain=True))


def test_colours_are_as_read() -> None:
    assert_as_read("fail-80-colour", escapes_shown(rendered("fail", console=on_terminal())))


def test_no_color_keeps_bold_and_loses_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = rendered("fail", console=on_terminal())
    assert not re.search(r"\x1b\[[\d;]*\b(3\d|9\d)\b", text)
    assert_as_read("fail-80-no-color", escapes_shown(text))


@pytest.mark.parametrize("name", examples.EXERCISES)
def test_an_exercise_is_at_most_34_lines_at_80_columns(name: str) -> None:
    assert len(rendered(name).splitlines()) <= 34


@pytest.mark.long
@pytest.mark.parametrize("width", [40, 47, 60, 80, 100, 200])
@pytest.mark.parametrize("name", [*examples.EXERCISES, "report", "class"])
def test_no_line_is_wider_than_the_terminal_or_ends_in_space(name: str, width: int) -> None:
    for line in rendered(name, width).splitlines():
        assert cell_len(line) <= width
        assert line == line.rstrip()


def test_a_low_terminal_keeps_finding_place_hint_and_next() -> None:
    text = rendered("fail", console=on_terminal(height=27))
    assert len(text.splitlines()) < 27
    for kept in ("Every score is", "ex05_attention.py", "A score is a sum", "course hint 5"):
        assert kept in text


@pytest.mark.parametrize("name", examples.EXERCISES)
def test_the_mark_of_a_check_that_waits_is_explained_and_no_other_mark(name: str) -> None:
    waiting = [f"· {spoken(one.id)}" for one in examples.EXERCISES[name].checks if check_state(one).mark == "waiting"]
    for width in (40, 60, 80, 100):
        top = rendered(name, width).split("\n\n")[0]
        legends = [
            words for words in (f"· {UNJUDGED}", f"· {REQUIRES}") if re.search(rf"pass, {words}|\({words}\)", top)
        ]
        is_shown = any(mark in top for mark in waiting) or re.search(r"· \d+ (checks?|not run)\b", top) is not None
        assert len(legends) == is_shown, (width, top)


def test_below_40_columns_there_are_sentences() -> None:
    narrow, whole = rendered("fail", 39), rendered("fail", plain=True)
    assert narrow.split() == whole.split()
    assert all(len(line) <= 39 for line in narrow.splitlines())


def test_plain_has_no_columns_no_boxes_and_no_escapes() -> None:
    for name in (*examples.EXERCISES, "report", "class"):
        text = rendered(name, plain=True, console=Console(file=io.StringIO(), width=80, color_system=None))
        assert not re.search(r"\x1b|  |[│▸✓✗·]", text)


def test_nothing_is_dim_or_outside_the_theme_colours() -> None:
    for name in (*examples.EXERCISES, "report", "class"):
        for codes in re.findall(r"\x1b\[([\d;]*)m", rendered(name, console=on_terminal())):
            assert not {"2", "38", "48"} & set(codes.split(";"))


def test_not_started_and_waits_have_no_red_and_no_hint() -> None:
    for name in ("not-started", "untouched", "in-progress", "waits"):
        text = rendered(name, console=on_terminal())
        assert "\x1b[31m" not in text
        assert "\x1b[1;31m" not in text
        assert "Hint" not in text


def test_a_problem_of_the_grader_is_not_put_on_the_student() -> None:
    text = rendered("grader-problem")
    assert "The grader failed here, not your code." in text
    assert "✗" not in text


def test_a_message_that_is_the_name_of_a_misconception_is_shown_once() -> None:
    for plain in (True, False):
        assert rendered("named", plain=plain).lower().count("the mask is used the wrong way round") == 1


def test_text_like_markup_comes_out_verbatim() -> None:
    message = "expected x[b, t, d], got x[b, 0] and x[/2]; :key: is a word, 'a' == 1, [bold]no[/bold]"
    assert message in " ".join(shown_with(Finding("pattern", "p", message), hints=(message,)).split())


def test_a_student_cannot_write_to_the_terminal() -> None:
    evil = "\x1b[2J\x1b]8;;http://a.b\x07click\x1b]0;title\x07 a\rb \u202ereordered \x00\x9b31m \ud800"
    source = ((1, evil), (2, evil))
    maps = Maps(evil, ((0.0, 1.0), (2.0, None)), ((0.0, 3.0), (None, 1.0)))
    evidence = Evidence(evil, (("shape", evil, "(1,)"),), ((evil, evil, evil),), evil, evil, maps)
    place = Place(evil, 2, evil, 1, 9)
    finding = Finding("misconception", evil, evil, evil, evil, place, source, evidence, evil, (1,), False)
    text = shown_with(finding, hints=(evil,), prints=(evil, f"{evil} again"))
    assert all(line.isprintable() for line in text.split("\n"))
    for plain in (True, False):
        stream = io.StringIO()
        prints = (PrintOutput(evil, evil), PrintOutput(evil))
        exercise = replace(examples.attention("scaled", "fail", finding), title=evil, id=evil, prints=prints)
        report = examples.report(evil, exercise, examples.PASS, notes=(evil,))
        console = Console(file=stream, width=80, force_terminal=False)
        render_report(console, report, file_paths={}, next_commands=(), glyphs=UNICODE, plain=plain)
        render_class(console, [report], glyphs=UNICODE, plain=plain)
        assert all(line.isprintable() for line in stream.getvalue().split("\n"))


def test_printable_keeps_text_and_escapes_what_cannot_be_seen() -> None:
    assert printable("x[/2] é √ 漢\tend\n") == "x[/2] é √ 漢 end\n"
    assert printable("\x1b[1;31mred\x1b[0m") == "red"
    assert printable("\x07\u202e\u200b\x1b]") == r"\x07\u202e\u200b\x1b]"
    assert one_line("a\n\n b\u00a0c") == "a b c"


def test_a_link_is_made_only_on_a_terminal() -> None:
    assert "\x1b]8;" in rendered("fail", console=on_terminal())
    assert FILE_PATH.absolute().as_uri() in rendered("fail", console=on_terminal())
    assert "\x1b" not in rendered("fail")


def test_a_long_message_of_a_library_is_cut() -> None:
    text = shown_with(Finding("exception", "e", "It raised.", "RuntimeError", "line of words " * 400 + "\n" * 50))
    assert len(text.splitlines()) <= 34
    assert "  …" in text.splitlines()


def test_what_the_code_printed_is_shown_by_its_end() -> None:
    text = shown_with(
        Finding("pattern", "p", "It differs."), prints=["".join(f"step {number}\n" for number in range(50))]
    )
    assert "the last 10 lines" in text
    assert "step 49" in text
    assert "step 39" not in text


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [("utf-8", UNICODE), ("cp1252", ASCII), ("cp437", ASCII), ("ascii", ASCII), ("no-such-encoding", ASCII)],
)
def test_the_glyphs_are_chosen_by_what_the_stream_can_encode(encoding: str, expected: Glyphs) -> None:
    assert glyphs_for(encoding) is expected


def test_a_console_on_a_narrow_encoding_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="cp1252", errors="strict"))
    console = report_console()
    exercise = replace(examples.MASK, title="attention 漢字 ✓")
    render_exercise(console, exercise, file_path=None, next_commands=NEXT, glyphs=glyphs_for(console.encoding))
    console.file.flush()
    assert b"attention ??" in raw.getvalue()


@pytest.mark.parametrize(
    ("color", "plain", "colored"), [(True, False, True), (False, False, False), (True, True, False)]
)
def test_colour_is_forced_on_and_off(monkeypatch: pytest.MonkeyPatch, color: bool, plain: bool, colored: bool) -> None:
    monkeypatch.setattr("sys.stdout", stream := io.StringIO())
    console = report_console(plain=plain, color=color)
    render_exercise(console, examples.FAIL, file_path=None, next_commands=NEXT, glyphs=UNICODE, plain=plain)
    assert ("\x1b[1;31m" in stream.getvalue()) is colored


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii", "latin-1", "utf-8"])
def test_no_encoding_makes_any_example_fail(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding=encoding, errors="strict"))
    console = report_console(color=True)
    glyphs = glyphs_for(console.encoding)
    for name in (*examples.EXERCISES, "report", "class"):
        for plain in (True, False):
            shown_on(console, name, glyphs, plain)
    console.file.flush()
    assert (b"mx \x1b" in raw.getvalue()) is (encoding != "utf-8")


def shown_on(console: Console, name: str, glyphs: Glyphs, plain: bool) -> None:
    if name == "class":
        render_class(console, examples.CLASS, glyphs=glyphs, plain=plain)
    elif name == "report":
        render_report(console, examples.ONE_STUDENT, file_paths={}, next_commands=NEXT, glyphs=glyphs, plain=plain)
    else:
        exercise = examples.EXERCISES[name]
        render_exercise(console, exercise, file_path=None, next_commands=NEXT, glyphs=glyphs, plain=plain)


@pytest.mark.parametrize(
    ("wishes", "terminal", "system"),
    [
        ({}, False, None),
        ({"FORCE_COLOR": "1", "TERM": "xterm-256color"}, False, "256"),
        ({"FORCE_COLOR": "1", "TERM": "xterm", "COLORTERM": "truecolor"}, False, "truecolor"),
        ({"TERM": "dumb"}, True, None),
        ({"TERM": "xterm-256color"}, True, "256"),
        ({"TERM": "xterm", "COLORTERM": "24bit"}, True, "truecolor"),
    ],
)
def test_the_terminal_and_its_user_decide_on_colour(
    monkeypatch: pytest.MonkeyPatch, wishes: dict[str, str], terminal: bool, system: str | None
) -> None:
    for name in ("TERM", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in wishes.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", Terminal() if terminal else io.StringIO())
    assert report_console().color_system == system
    assert report_console(plain=True).color_system is None
    monkeypatch.setenv("NO_COLOR", "1")
    assert report_console().no_color


@pytest.mark.parametrize(("shown_hints", "label"), [(1, "Hint"), (2, "Hint 2 of 3"), (9, "Hint 3 of 3"), (0, "")])
def test_the_last_hint_that_was_asked_for_is_shown(shown_hints: int, label: str) -> None:
    for plain in (True, False):
        stream = io.StringIO()
        console = Console(file=stream, width=80)
        render_exercise(
            console,
            examples.FAIL,
            file_path=None,
            next_commands=NEXT,
            glyphs=UNICODE,
            plain=plain,
            hints_shown=shown_hints,
        )
        assert re.findall(r"Hint(?: \d of \d)?", stream.getvalue()) == ([label] if label else [])


def test_many_checks_are_counted_not_listed() -> None:
    names = [f"a check with a name {number}" for number in range(20)]
    checks = tuple(
        replace(examples.FAIL.checks[3 if number in (7, 12, 13, 14, 15) else 0], id=name)
        for number, name in enumerate(names)
    )
    lines = printed(replace(examples.FAIL, checks=checks)).splitlines()
    assert lines[1] == "  ✓ 7 checks  ✗ a check with a name 7  ✓ 4 checks  ✗ 4 others  ✓ 4 checks"


# Narrow terminals.


def test_the_rest_of_a_long_line_of_code_stands_further_than_its_start() -> None:
    assert folded("  117      query = split(queries) + bias", 30) == [
        "  117      query =",
        "             split(queries) +",
        "             bias",
    ]
    assert folded("     → query = split(queries) + bias", 30) == ["     → query = split(queries)", "         + bias"]


def test_no_command_and_no_name_in_backticks_is_broken() -> None:
    text = "There is no exercise `99`. `course list --done` shows all, and `a command longer than the line` is broken."
    lines = wrapped(text, 24)
    assert "`course list --done`" in lines
    assert " ".join(lines) == text
    assert wrapped("a long-name", 12) == ["a long-name"]
    assert wrapped("a long-name-with-hyphens", 12) == ["a", "long-name-wi", "th-hyphens"], "it fits into no line"
    page = Page.on(Console(file=io.StringIO(), width=26), UNICODE)
    assert "  `course list --done`" in [line.plain.split(" shows")[0] for line in page.wrap(Text(text))]


def test_a_long_command_stands_below_its_label() -> None:
    page = Page.on(Console(file=io.StringIO(), width=60), UNICODE)
    command = "course why " + "x" * 44
    lines = [line.plain for line in next_lines(page, [(command, "explain it"), ("course check 01", "")])]
    assert lines == ["  Next", f"  {command}", "    explain it", "  course check 01"]
    beside = next(line.plain for line in next_lines(page, [("course why " + "x" * 41, "")]))
    assert beside.startswith("  Next  course")


def test_a_name_that_has_no_room_beside_a_command_stands_below_it_whole() -> None:
    commands = [("course hint 02", "how to begin PositionalEncoding.__init__"), ("edit " + "x" * 41, "then check")]
    page = Page.on(Console(file=io.StringIO(), width=80), UNICODE)
    assert "          how to begin PositionalEncoding.__init__" in [line.plain for line in next_lines(page, commands)]
    shown = io.StringIO()
    with redirect_stdout(shown):
        screen = Screen(plain=False, color=False)
        screen.width = 80
        screen.next(commands)
    assert "          how to begin PositionalEncoding.__init__\n" in shown.getvalue()


def test_the_mark_of_what_cannot_be_checked_yet_is_explained() -> None:
    page = Page.on(Console(file=io.StringIO(), width=80), UNICODE)
    for name, exercise in examples.EXERCISES.items():
        lines = [line.plain for line in top_lines(page, exercise)]
        is_marked = any("  · " in line for line in lines)
        ends = [
            f"{before}· {said}{after}" for said in (UNJUDGED, REQUIRES) for before, after in ((", ", ""), ("  (", ")"))
        ]
        assert any(line.endswith(tuple(ends)) for line in lines) == is_marked, name


@pytest.mark.parametrize("width", [40, 80, 120])
def test_long_values_that_differ_stand_in_both_columns(width: int) -> None:
    bytes_of, number = ("bytes of part", repr(b"\x01" * 40), repr(b"\xfe" * 40)), ("bytes in all", "3720", "7200")
    page = Page.on(Console(file=io.StringIO(), width=width), UNICODE)
    witnesses = Witnesses("result: values that differ", "at", "", (number, bytes_of), "", ())
    _, head, *rows = (line.plain for line in element_lines(page, witnesses, None, 8, 8))
    assert head.split() == ["at", "expected", "yours"]
    assert rows[0].split()[-2:] == ["3720", "7200"]
    assert rows[1].count(" b'") == 2
    assert all(cell_len(line) <= page.width for line in rows)
