"""A verdict in the terminal: finding, place, evidence, hint, and the next command last."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder.report import plain as sentences
from autograder.report.class_table import class_lines
from autograder.report.console import make_console as make_console
from autograder.report.failure import failure_lines
from autograder.report.glyphs import Glyphs
from autograder.report.header import part_lines, title_line, top_lines
from autograder.report.layout import NARROWEST, SECONDARY, Page, blocks, breadth, columns, next_lines
from autograder.report.maps import NARROWEST_WITH_MAPS
from autograder.report.passing import bonus_lines, built_lines, picture_lines, unused_lines
from autograder.report.words import (
    STATES,
    achieved,
    notes,
    number,
    passing,
    plural,
    points,
    points_of,
    shown_first,
    student,
)
from autograder.results.model import ExerciseResult, Report

TALLEST = 34
LOW = 30
"""A terminal with fewer lines shows no tables and no maps."""

Command = tuple[str, str]


def render_exercise(
    console: Console,
    exercise: ExerciseResult,
    *,
    file_path: Path | None,
    next_commands: Sequence[Command],
    glyphs: Glyphs,
    plain: bool = False,
    log: str = "",
    hints_shown: int = 1,
    attempt: int | None = None,
    unused_hints: Sequence[str] = (),
) -> None:
    """Show one exercise: what was achieved when it passes; else its first failure, at most 34 lines at 80 columns.

    `file_path` is where the student's file lies, for a link; `next_commands` are commands and what each does. With a
    failure goes the last of the hints shown so far; with a pass, which attempt it was and the hints not needed.
    """
    if plain or console.width < NARROWEST:
        about = sentences.exercise_sentences(exercise, next_commands, log, hints_shown, attempt, unused_hints)
        sentences.show(console, about)
        return
    page = Page.on(console, glyphs)
    last = next_lines(page, next_commands)
    rows = _rows(page) - len(last) - 1
    if exercise.status == "pass":
        lines = pass_lines(page, exercise, rows, attempt, unused_hints)
    else:
        lines = exercise_lines(page, exercise, file_path, rows, log, hints_shown)
    page.show(blocks((lines, last)))


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


def exercise_lines(
    page: Page, exercise: ExerciseResult, file_path: Path | None, rows: int, log: str, hint: int = 1
) -> list[Text]:
    """Return the header of an exercise, its checks, and its first failure; one line where it passes."""
    if exercise.status == "pass":
        return _pass_line(page, exercise, None)
    head = top_lines(page, exercise)
    check = exercise.first_failure
    if check is None:
        return blocks((head, page.wrap(page.text(STATES[exercise.status].meaning))))
    brief = _height(page) < LOW
    return blocks((head, failure_lines(page, check, file_path, rows - len(head) - 1, log, hint, brief)))


def pass_lines(
    page: Page, exercise: ExerciseResult, rows: int, attempt: int | None, unused_hints: Sequence[str]
) -> list[Text]:
    """Return one line that says what was achieved, what was built and what it does, and the hints left over."""
    unused = unused_lines(page, unused_hints)
    built = [*built_lines(page, exercise), *bonus_lines(page, exercise)]
    head = [*_pass_line(page, exercise, attempt), *built]
    room = rows - len(head) - len(unused) - 2
    pictures = picture_lines(page, exercise.pictures, room) if page.width >= NARROWEST_WITH_MAPS else []
    return blocks((head, pictures, unused))


def _pass_line(page: Page, exercise: ExerciseResult, attempt: int | None) -> list[Text]:
    line = Text.assemble(title_line(page, exercise), "  ", page.text(achieved(exercise, attempt)))
    return [*page.wrap(line, 0), *part_lines(page, exercise)]


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
    if not several and first.status == "pass":
        return pass_lines(page, first, _rows(page), None, ())
    return exercise_lines(page, first, file_paths.get(f"{first.id}.py"), _rows(page), report.log)


def _rows(page: Page) -> int:
    """Return how tall a failure may be: more lines where they are short, and never more than the terminal shows."""
    return min(TALLEST * 80 // min(page.width, 80), _height(page) - 1)


def _height(page: Page) -> int:
    """Return the lines of the terminal; what is no terminal has as many as one likes."""
    return page.console.height if page.console.file.isatty() else 1000


def _summary(page: Page, exercise: ExerciseResult) -> list[Text]:
    state = STATES[exercise.status]
    mark = page.text(getattr(page.glyphs, state.mark), state.style)
    title = Text.assemble(mark, " ", page.text(f"{number(exercise.id)} {exercise.title}"))
    count = f"{passing(exercise.checks)} of {plural(len(exercise.checks), 'check')}" if exercise.checks else ""
    earned = (
        f"{points(exercise.score)} of {points(exercise.max_score)}" if exercise.max_score else points(exercise.score)
    )
    return [title, page.text(state.word, state.style), page.text(count), page.text(earned)]
