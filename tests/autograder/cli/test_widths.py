"""Every screen at every width from 20 to 200 columns: nothing raises, and no line is wider than the terminal."""

import io
import os
import random
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from autograder.cli.program import parse, run_command
from autograder.cli.screen import Screen, say
from autograder.course import Course, describe, named_in, read_course
from autograder.gradebook import render_class
from autograder.learner import command_list, command_overview, command_status
from autograder.learner.command_diff import render_evidence, render_prints
from autograder.play import command_play
from autograder.practice import command_review
from autograder.practice.command_hunt import Choice
from autograder.practice.command_review import ReviewQuestion
from autograder.progress import Command, ExerciseRow, Progress, Standing
from autograder.progress.overview import FileState
from autograder.report import (
    ASCII,
    UNICODE,
    Page,
    WhyPage,
    cut,
    folded,
    next_lines,
    next_rows,
    render_exercise,
    render_report,
    render_why,
    wrapped,
)
from autograder.results import PrintOutput
from tests.autograder.cli.test_help import DOCUMENTED
from tests.support import report_examples as examples
from tests.support import tiny

WIDTHS = range(20, 201)
EDGES = {20, 39, 40, 59, 60, 79, 80, 81, 99, 100, 101, 200}
"""The widths at which a layout changes, and their neighbours."""

REAL = read_course(tiny.REPOSITORY)
WIDE = "注意力机制与变换器 🙂🙂 très-long-identifier_without_any_space_that_is_wider_than_most_terminals_are"
COMMANDS = [
    ("edit exercises/ex28_speculative_decoding.py:117, then: course check 28", ""),
    ("course next", "on to 15 byte pair encoding"),
    ("edit ../a folder/" + "deep/" * 40 + "ex01.py:1", "then course check 1"),
    (f"course why {WIDE}", WIDE),
]
STANDINGS = {
    "new": Standing(),
    "failing": Standing(status="fail", passing=3, checks=14, runs=2, score=350, max_score=1400, seconds_worked=6000),
    "error": Standing(status="error", checks=8, runs=1, max_score=800, title=WIDE),
    "stopped": Standing(status="timeout", checks=8, runs=1, max_score=800),
    "grader": Standing(status="grader_error", checks=8, runs=1, max_score=800),
    "held": Standing(status="held", runs=1),
    "begun": Standing(status="not_started", checks=8, runs=1, in_progress=True),
    "passing": Standing(status="pass", passing=14, checks=14, runs=9, first_passed="2026-01-01T00:00:00+00:00"),
    "broken": Standing(status="fail", passing=1, checks=14, runs=9, first_passed="2026-01-01T00:00:00+00:00"),
}


def some_widths(about: str, every: int = 11) -> list[int]:
    """Return the edges and every eleventh width, other ones for each name: together they are all widths."""
    first = 20 + sum(map(ord, about)) % every
    return sorted(EDGES | set(range(first, 201, every)))


@pytest.fixture
def columns(monkeypatch: pytest.MonkeyPatch) -> "Columns":
    return Columns(monkeypatch)


class Stream(io.StringIO):
    """A stream that takes every character."""

    encoding = "utf-8"


class Columns:
    """Sets the width of the terminal, and looks at what was printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch

    def set(self, width: int) -> io.StringIO:
        self.monkeypatch.setenv("COLUMNS", str(width))
        stream = Stream()
        self.monkeypatch.setattr("sys.stdout", stream)
        return stream


def assert_fits(text: str, width: int, about: object = "") -> None:
    for line in text.splitlines():
        assert cell_len(line) <= width, f"{about}, {width} columns: {line!r}"


def options(**named: object) -> Namespace:
    return Namespace(**{"plain": False, "no_color": True, "has_keys": False, "json": None, "only": None, **named})


@pytest.mark.parametrize("commands", [COMMANDS, COMMANDS[:1], COMMANDS[1:2], [("", "")], [], [("course", "x" * 300)]])
def test_what_comes_next_fits_and_loses_no_word(commands: list[Command]) -> None:
    for width in range(1, 201):
        rows = next_rows(commands, width)
        if width >= 20:
            assert_fits("\n".join("".join(row).rstrip() for row in rows), width, commands)
        joined = "".join("".join(row) for row in rows).replace(" ", "")
        for command, does in commands:
            assert command.replace(" ", "") in joined
            assert does.replace(" ", "") in joined


def test_a_paragraph_fits_any_width_and_loses_no_letter() -> None:
    draw = random.Random(7)
    letters = ["a", "bc", " ", "  ", "`", "注", "🙂", "é", "/", "-", "\n", "e\u0301"]
    for _ in range(400):
        text = "".join(draw.choices(letters, k=draw.randrange(120)))
        for width in (-3, 0, 1, 2, 3, 7, 20, 41, 80):
            lines = wrapped(text, width, hang=draw.randrange(9))
            assert "".join("".join(lines).split()) == "".join(text.split())
            assert_fits("\n".join(lines), max(width, 3), repr(text))
            assert_fits("\n".join(folded(text.replace("\n", " "), width)), max(width, 3), repr(text))
            assert cell_len(cut(text, width, "...")) <= max(width, 0)


def test_a_page_fits_any_width() -> None:
    for width in range(1, 201):
        console = Console(file=io.StringIO(), width=width, force_terminal=False)
        for glyphs in (UNICODE, ASCII):
            page = Page.on(console, glyphs)
            for indent in (0, 2, 8, 30):
                assert all(line.cell_len <= max(width, 3) for line in page.wrap(page.text(WIDE), indent)), indent
            assert page.cut(Text(WIDE), width - 3).cell_len <= max(width - 3, 0)
            if width >= 20:
                assert all(line.cell_len <= width for line in next_lines(page, COMMANDS))


def rows_of(course: Course, state: str, file: FileState = "work") -> list[ExerciseRow]:
    return [ExerciseRow(exercise, STANDINGS[state], checks_changed=False, file=file) for exercise in course.exercises]


def test_the_overview_of_every_exercise_fits_in_every_state(columns: Columns) -> None:
    """`course`, `course list` and `course status`, without the files that they read."""
    unusual = replace(REAL, title=WIDE, exercises=tuple(replace(one, title=WIDE) for one in REAL.exercises[:3]))
    for width in WIDTHS:
        stream = columns.set(width)
        screen = Screen.of(options())
        for at, state in enumerate(STANDINGS):
            for row in rows_of(REAL, state)[(width + at) % 5 :: 5]:
                command_list._show_table(screen, [row], row.exercise)
                begin = f"edit exercises/{row.exercise.file}:{width}, then: course check {row.exercise.number}"
                screen.next([(begin, "")])
        for course in (REAL, unusual):
            above = [WIDE if at % 9 == 0 else "" for at in range(len(course.exercises))]
            command_list._show_table(screen, rows_of(course, "failing", "missing"), course.exercises[1], above)
        assert_fits(stream.getvalue(), width)


@pytest.mark.long
@pytest.mark.parametrize("command", [command_overview, command_list, command_status])
def test_a_whole_overview_fits(command: ModuleType, columns: Columns, monkeypatch: pytest.MonkeyPatch) -> None:
    states = list(STANDINGS)
    names = {one.id: STANDINGS[states[at % len(states)]] for at, one in enumerate(REAL.exercises)}
    progress = Progress(names, here=REAL.exercises[1].id)
    rows = [ExerciseRow(one, names[one.id], checks_changed=at % 5 == 4) for at, one in enumerate(REAL.exercises)]
    monkeypatch.setattr(command, "read_rows", lambda: (REAL, progress, rows))
    monkeypatch.setattr(command_list, "parts_written", lambda *_: f"1 of 9 functions written, next: {WIDE}, line 17")
    monkeypatch.setattr(command, "next_command", lambda *_: COMMANDS[0])
    monkeypatch.setattr(command_list, "first_failure", lambda *_: WIDE)
    for width in some_widths(command.__name__):
        for plain in (False, True):
            stream = columns.set(width)
            assert command.run(options(plain=plain, author=False)) == 0
            assert_fits(stream.getvalue(), width, command)


WHERE = Path("exercises") / examples.FILE


class MemoryConsole(Console):
    """A console on a stream in memory."""

    file: io.StringIO


def console_of(width: int) -> MemoryConsole:
    return MemoryConsole(file=io.StringIO(), width=width, force_terminal=False)


@pytest.mark.long
@pytest.mark.parametrize("name", examples.EXERCISES)
def test_every_verdict_fits(name: str, columns: Columns) -> None:
    result = examples.EXERCISES[name]
    odd = replace(result, title=WIDE, built=WIDE, checks=tuple(replace(one, title=WIDE) for one in result.checks))
    for width in some_widths(name):
        columns.set(width)
        for shown, glyphs in ((result, UNICODE), (odd, ASCII)) if width % 3 == 2 else ((result, UNICODE),):
            console = console_of(width)
            render_exercise(
                console, shown, file_path=WHERE, next_commands=COMMANDS, glyphs=glyphs, plain=width % 7 == 0
            )
            assert_fits(console.file.getvalue(), width, name)


@pytest.mark.parametrize("plain", [False, True])
def test_a_report_and_a_class_fit(plain: bool, columns: Columns) -> None:
    for width in some_widths("class"):
        columns.set(width)
        console = console_of(width)
        report, paths = examples.ONE_STUDENT, {examples.FILE: WHERE}
        render_report(console, report, file_paths=paths, next_commands=COMMANDS, glyphs=UNICODE, plain=plain)
        render_class(console, examples.CLASS, glyphs=UNICODE, plain=plain)
        assert_fits(console.file.getvalue(), width)


@pytest.mark.long
@pytest.mark.parametrize("name", ["fail", "mask", "shape", "error", "ids", "ratio"])
def test_every_measurement_fits(name: str, columns: Columns) -> None:
    result = examples.EXERCISES[name]
    assert result.first_failure is not None
    for width in some_widths(name):
        columns.set(width)
        console = console_of(width)
        render_evidence(console, result, result.first_failure, glyphs=UNICODE, next_commands=COMMANDS)
        render_prints(console, (PrintOutput(f"{WIDE}\n{WIDE * 9}", "scaled", 1),), glyphs=UNICODE)
        assert_fits(console.file.getvalue(), width, name)


@pytest.mark.parametrize("exercise", [one.id for one in REAL.exercises])
def test_every_explanation_fits(exercise: str, columns: Columns) -> None:
    names = list(named_in(REAL, REAL.exercise(exercise), besides=""))
    for at, width in enumerate(some_widths(exercise)):
        columns.set(width)
        console = console_of(width)
        described = describe(REAL, names[at % len(names)])
        assert described is not None
        page = WhyPage(**vars(described), lesson=f"exercises/{exercise}.py")
        render_why(console, page, glyphs=UNICODE, next_commands=COMMANDS)
        assert_fits(console.file.getvalue(), width, names[at % len(names)])


@pytest.mark.parametrize("command", ["", *DOCUMENTED])
def test_every_help_fits(command: str, columns: Columns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tiny.ROOT)
    for width in some_widths(command, 31):
        stream = columns.set(width)
        with pytest.raises(SystemExit):
            parse([*command.split(), "--help"])
        assert_fits(stream.getvalue(), width, command)


def test_the_help_of_the_program_fits_its_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny.ROOT)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("os.get_terminal_size", lambda *_: os.terminal_size((30, 40)))
    for command in ("", "grade", "export"):
        assert run_command([*command.split(), "--help"]) == 0
        assert_fits(capsys.readouterr().out, 30, command)


def test_questions_and_messages_fit(columns: Columns) -> None:
    question = ReviewQuestion("x", REAL.exercises[0], Choice(WIDE, (WIDE, "b", "c"), 1), (f"    return {WIDE}",), WIDE)
    for width in WIDTHS:
        stream = columns.set(width)
        screen = Screen.of(options())
        command_review._show(screen, question)
        command_play._show_activities(screen, REAL, [])
        screen.text(WIDE, label="First failure")
        say(f"Reports are in /{'tmp/' * 50}, the table in {WIDE}")
        assert_fits(stream.getvalue(), width)
