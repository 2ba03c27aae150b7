"""A verdict in the terminal: the failure, or what was achieved, and the next command last."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder.report.class_summary import ClassSummary, summarize
from autograder.report.console import make_console as make_console
from autograder.report.exercise_summary import achieved, notes, number, passing, shown_first, student
from autograder.report.failure_view import Command as Command
from autograder.report.failure_view import FailureView, failure_view
from autograder.report.glyphs import Glyphs
from autograder.report.header import part_lines, title_line, top_lines
from autograder.report.layout import NARROWEST, SECONDARY, Page, blocks, breadth, columns, next_lines
from autograder.report.passing import bonus_lines, built_lines, picture_lines, unused_lines
from autograder.report.prints import print_parts
from autograder.report.quantities import plural, points, points_of
from autograder.report.states import state_of
from autograder.report.terminal_failure import fitted_lines, print_lines
from autograder.report.terminal_maps import NARROWEST_WITH_MAPS
from autograder.report.todo_view import todo_view
from autograder.results.model import ExerciseResult, Report

TALLEST = 34
LINES_PRINTED_IN_A_PASS = 4
LOW = 30
"""A terminal with fewer lines shows no tables and no maps."""


def render_exercise(
    console: Console,
    exercise: ExerciseResult,
    *,
    file_path: Path | None,
    next_commands: Sequence[Command],
    glyphs: Glyphs,
    plain: bool = False,
    hints_shown: int = 1,
    attempt: int | None = None,
    unused_hints: Sequence[str] = (),
) -> None:
    """Show one exercise: what was achieved if it passes, else its first failure, in at most 34 lines of 80 columns.

    `file_path` is the student's file, for a link. `next_commands` are commands and what each does. A failure shows the
    last of the `hints_shown`; a pass shows the `attempt` and the `unused_hints`.
    """
    if plain or console.width < NARROWEST:
        from autograder.report import plain as sentences  # few have it

        about = sentences.exercise_sentences(exercise, next_commands, hints_shown, attempt, unused_hints)
        sentences.show(console, about)
        return
    page = Page.on(console, glyphs)
    if exercise.status == "pass":
        last = next_lines(page, next_commands)
        page.show(blocks((_pass_lines(page, exercise, _rows(page) - len(last) - 1, attempt, unused_hints), last)))
        return
    view = _view(exercise, hints_shown, next_commands)
    last = [] if view else next_lines(page, next_commands)
    page.show(blocks((_failing_lines(page, exercise, view, file_path), last)))


def render_report(
    console: Console,
    report: Report,
    *,
    file_paths: Mapping[str, Path],
    next_commands: Sequence[Command],
    glyphs: Glyphs,
    plain: bool = False,
) -> None:
    """Show a line for each exercise, the first failure in full, and the total. `file_paths` are by file name."""
    if plain or console.width < NARROWEST:
        from autograder.report import plain as sentences

        sentences.show(console, sentences.report_sentences(report, next_commands))
        return
    page = Page.on(console, glyphs)
    name = page.text(student(report), "bold")
    several = len(report.exercises) > 1
    parts = (
        [name] if name.plain else [],
        _list_lines(page, report) if several else [],
        _first_in_full(page, report, file_paths),
        _total_lines(page, report) if several else _note_lines(page, report),
        next_lines(page, next_commands),
    )
    page.show(blocks(parts))


def render_class(
    console: Console,
    reports: Sequence[Report],
    *,
    glyphs: Glyphs,
    plain: bool = False,
    summary: ClassSummary | None = None,
) -> None:
    """Show a graded class: points by student and exercise, and a summary.

    `summary` is that of a class of which the reports are the first; without it, they are all.
    """
    summary = summary or summarize(reports)
    if plain or console.width < NARROWEST:
        from autograder.report import plain as sentences

        sentences.show(console, sentences.class_sentences(reports, summary))
        return
    from autograder.report.class_table import class_lines

    page = Page.on(console, glyphs, widest=console.width)
    page.show(class_lines(page, reports, summary))


def _view(exercise: ExerciseResult, hints_shown: int = 1, next_commands: Sequence[Command] = ()) -> FailureView | None:
    check = exercise.first_failure
    if check is None:
        return None
    todos = todo_view(exercise)
    return failure_view(
        check, prints=exercise.prints, hints_shown=hints_shown, next_commands=next_commands, todos=todos
    )


def _failing_lines(
    page: Page, exercise: ExerciseResult, view: FailureView | None, file_path: Path | None
) -> list[Text]:
    """Return the header of an exercise, its checks, and its first failure."""
    head = top_lines(page, exercise)
    if view is None:
        return blocks((head, page.wrap(page.text(state_of(exercise).meaning))))
    brief = _height(page) < LOW
    return blocks((head, fitted_lines(page, view, file_path, _rows(page) - len(head) - 1, brief)))


def _pass_lines(
    page: Page, exercise: ExerciseResult, rows: int, attempt: int | None, unused_hints: Sequence[str]
) -> list[Text]:
    """Return what was achieved in one line, what was built, pictures of it, and the hints left over."""
    unused = unused_lines(page, unused_hints)
    built = [*built_lines(page, exercise), *bonus_lines(page, exercise)]
    head = [*_pass_line(page, exercise, attempt), *built]
    printed = print_lines(page, print_parts(exercise.prints), LINES_PRINTED_IN_A_PASS)
    room = rows - len(head) - len(unused) - 2 - (len(printed) + 1 if printed else 0)
    pictures = picture_lines(page, exercise.pictures, room) if page.width >= NARROWEST_WITH_MAPS else []
    return blocks((head, printed, pictures, unused))


def _pass_line(page: Page, exercise: ExerciseResult, attempt: int | None) -> list[Text]:
    line = Text.assemble(title_line(page, exercise), "  ", page.text(achieved(exercise, attempt)))
    return [*page.wrap(line, 0), *part_lines(page, exercise)]


def _list_lines(page: Page, report: Report) -> list[Text]:
    """Return a line for each exercise: mark, title, state, checks and points, with fewer of them on a narrow page."""
    rows = [_summary(page, exercise) for exercise in report.exercises]
    for kept in ((0, 1, 2, 3), (0, 1, 3), (0, 3)):
        lines = columns([[row[column] for column in kept] for row in rows], [column == 3 for column in kept])
        if breadth(lines) <= page.width:
            break
    return [page.cut(line, page.width) for line in lines]


def _total_lines(page: Page, report: Report) -> list[Text]:
    """Return the points of a report together, and its notes."""
    done = sum(exercise.status == "pass" for exercise in report.exercises)
    count = (
        f"{done} of {plural(len(report.exercises), 'exercise')} {'passes' if len(report.exercises) == 1 else 'pass'}"
    )
    total = Text.assemble(
        page.text("Total", "bold"), f"  {points_of(report.score, report.max_score)}  ", page.text(count, SECONDARY)
    )
    return page.wrap(total) + _note_lines(page, report)


def _note_lines(page: Page, report: Report) -> list[Text]:
    """Return what the intake noted about a submission."""
    return [line for note in notes(report) for line in page.wrap(page.text(f"Note  {note}"))]


def _first_in_full(page: Page, report: Report, file_paths: Mapping[str, Path]) -> list[Text]:
    """Return the exercise to look at first; of a single exercise, what was achieved if it passes."""
    several = len(report.exercises) > 1
    first = shown_first(report) if several else next(iter(report.exercises), None)
    if first is None:
        return []
    if first.status == "pass":
        return _pass_lines(page, first, _rows(page), None, ())
    return _failing_lines(page, first, _view(first), file_paths.get(f"{first.id}.py"))


def _rows(page: Page) -> int:
    """Return how tall a failure may be: more lines on a narrow page, and never more than the terminal shows."""
    return min(TALLEST * 80 // min(page.width, 80), _height(page) - 1)


def _height(page: Page) -> int:
    """Return the lines of the terminal; a file or a pipe has no limit."""
    return page.console.height if page.console.file.isatty() else 1000


def _summary(page: Page, exercise: ExerciseResult) -> list[Text]:
    state = state_of(exercise)
    mark = page.text(getattr(page.glyphs, state.mark), state.style)
    title = Text.assemble(mark, " ", page.text(f"{number(exercise.id)} {exercise.title}"))
    count = f"{passing(exercise.checks)} of {plural(len(exercise.checks), 'check')}" if exercise.checks else ""
    earned = (
        f"{points(exercise.score)} of {points(exercise.max_score)}" if exercise.max_score else points(exercise.score)
    )
    return [title, page.text(state.word, state.style), page.text(count), page.text(earned)]
