"""A verdict in the terminal: finding, place, evidence, hint, and the next command last."""

import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder.report import plain as sentences
from autograder.report.class_table import class_lines
from autograder.report.failure import failure_lines
from autograder.report.glyphs import Glyphs
from autograder.report.layout import NARROWEST, SECONDARY, Page, apart, blocks, breadth, columns, next_lines, packed
from autograder.report.model import CheckResult, ExerciseResult, Report
from autograder.report.words import (
    STATES,
    achieved,
    checks_pass,
    notes,
    number,
    passing,
    plural,
    points,
    points_of,
    shown_first,
    spoken,
    stand_ins,
    student,
)

TALLEST = 34

Command = tuple[str, str]


def make_console(*, plain: bool = False, color: bool | None = None) -> Console:
    """Return the console on stdout, which never raises for a character it cannot show.

    `color` forces colour on or off; without it the terminal, NO_COLOR and FORCE_COLOR decide.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Console(
        no_color=True if plain else None if color is None else not color,
        force_terminal=False if plain else (color or None),
        color_system=None if plain else "standard" if color else "auto",
        markup=False,
        highlight=False,
        emoji=False,
    )


def render_exercise(
    console: Console,
    exercise: ExerciseResult,
    *,
    file_path: Path | None,
    next_commands: Sequence[Command],
    glyphs: Glyphs,
    plain: bool = False,
    log: str = "",
) -> None:
    """Show one exercise: a line when it passes; else its first failure, at most 34 lines at 80 columns.

    `file_path` is where the student's file lies, for a link; `next_commands` are commands and what each does.
    """
    if plain or console.width < NARROWEST:
        sentences.show(console, sentences.exercise_sentences(exercise, next_commands, log))
        return
    page = Page.on(console, glyphs)
    last = next_lines(page, next_commands)
    page.show(blocks((exercise_lines(page, exercise, file_path, _rows(page) - len(last) - 1, log), last)))


def render_report(
    console: Console,
    report: Report,
    *,
    file_paths: Mapping[str, Path],
    next_commands: Sequence[Command],
    glyphs: Glyphs,
    plain: bool = False,
) -> None:
    """Show several exercises: a line for each, the first failure in full, the total; `file_paths` by file name."""
    if plain or console.width < NARROWEST:
        sentences.show(console, sentences.report_sentences(report, next_commands))
        return
    page = Page.on(console, glyphs)
    name = page.text(student(report), "bold")
    several = len(report.exercises) > 1
    parts = (
        [name] if name.plain else [],
        list_lines(page, report) if several else [],
        _first_in_full(page, report, file_paths),
        total_lines(page, report) if several else note_lines(page, report),
        next_lines(page, next_commands),
    )
    page.show(blocks(parts))


def render_class(console: Console, reports: Sequence[Report], *, glyphs: Glyphs, plain: bool = False) -> None:
    """Show a class after it was graded: points by student and exercise, and below them what they add up to."""
    if plain or console.width < NARROWEST:
        sentences.show(console, sentences.class_sentences(reports))
        return
    page = Page.on(console, glyphs, widest=console.width)
    page.show(class_lines(page, reports))


def exercise_lines(page: Page, exercise: ExerciseResult, file_path: Path | None, rows: int, log: str) -> list[Text]:
    """Return the header of an exercise, its checks, and its first failure; one line where it passes."""
    if exercise.status == "pass":
        line = page.wrap(Text.assemble(_title(page, exercise), "  ", page.text(achieved(exercise))), 0)
        return [*line, *(page.wrap(page.text(stand_ins(exercise), SECONDARY)) if stand_ins(exercise) else [])]
    head = _header(page, exercise)
    check = exercise.first_failure
    if check is None:
        return blocks((head, page.wrap(page.text(STATES[exercise.status].meaning))))
    return blocks((head, failure_lines(page, check, file_path, rows - len(head) - 1, log)))


def list_lines(page: Page, report: Report) -> list[Text]:
    """Return a line for each exercise: mark, title, state, checks and points, with fewer of them on a narrow page."""
    rows = [_summary(page, each) for each in report.exercises]
    for shown in ((0, 1, 2, 3), (0, 1, 3), (0, 3)):
        lines = columns([[row[each] for each in shown] for row in rows], [each == 3 for each in shown])
        if breadth(lines) <= page.width:
            break
    return [page.cut(line, page.width) for line in lines]


def total_lines(page: Page, report: Report) -> list[Text]:
    """Return the points of a report together, and its notes."""
    done = sum(each.status == "pass" for each in report.exercises)
    count = (
        f"{done} of {plural(len(report.exercises), 'exercise')} {'passes' if len(report.exercises) == 1 else 'pass'}"
    )
    total = Text.assemble(
        page.text("Total", "bold"), f"  {points_of(report.score, report.max_score)}  ", page.text(count, SECONDARY)
    )
    return page.wrap(total) + note_lines(page, report)


def note_lines(page: Page, report: Report) -> list[Text]:
    """Return what the intake noted about a submission."""
    return [line for each in notes(report) for line in page.wrap(page.text(f"Note  {each}"))]


def _first_in_full(page: Page, report: Report, file_paths: Mapping[str, Path]) -> list[Text]:
    several = len(report.exercises) > 1
    first = shown_first(report) if several else next(iter(report.exercises), None)
    if first is None:
        return []
    return exercise_lines(page, first, file_paths.get(f"{first.id}.py"), _rows(page), report.log)


def _rows(page: Page) -> int:
    """Return how tall a failure may be: more lines where they are short, and never more than the terminal shows."""
    rows = TALLEST * 80 // min(page.width, 80)
    return min(rows, page.console.height - 1) if page.console.file.isatty() else rows


def _title(page: Page, exercise: ExerciseResult) -> Text:
    state = STATES[exercise.status]
    mark = page.text(f"{getattr(page.glyphs, state.mark)} ", state.style)
    word = page.text(state.word, f"bold {state.style}")
    return Text.assemble(mark, word, " ", page.text(f"{number(exercise.id)} {exercise.title}", "bold"))


def _header(page: Page, exercise: ExerciseResult) -> list[Text]:
    title, count = _title(page, exercise), page.text(checks_pass(exercise.checks))
    together = apart(title, count, page.width)
    head = [together] if together else [*page.wrap(title, 0), *(page.wrap(count) if count else [])]
    first = exercise.first_failure
    asked = exercise.checks if exercise.status != "missing" else ()
    marks = packed([_mark(page, each, each is first) for each in asked], page.width - 2)
    stand_in = page.wrap(page.text(stand_ins(exercise), SECONDARY)) if stand_ins(exercise) else []
    return [*head, *(Text.assemble("  ", line) for line in marks), *stand_in]


def _mark(page: Page, check: CheckResult, first: bool) -> Text:
    state = STATES[check.status]
    waiting = state.mark == "waiting"
    mark = page.text(getattr(page.glyphs, state.mark), state.style)
    return Text.assemble(mark, " ", page.text(spoken(check.id), SECONDARY if waiting else "bold" if first else ""))


def _summary(page: Page, exercise: ExerciseResult) -> list[Text]:
    state = STATES[exercise.status]
    mark = page.text(getattr(page.glyphs, state.mark), state.style)
    title = Text.assemble(mark, " ", page.text(f"{number(exercise.id)} {exercise.title}"))
    count = f"{passing(exercise.checks)} of {plural(len(exercise.checks), 'check')}" if exercise.checks else ""
    earned = (
        f"{points(exercise.score)} of {points(exercise.max_score)}" if exercise.max_score else points(exercise.score)
    )
    return [title, page.text(state.word, state.style), page.text(count), page.text(earned)]
