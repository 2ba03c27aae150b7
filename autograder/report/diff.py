"""`course diff`: every measurement of a failure, however long that is."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder.report import plain as sentences
from autograder.report.comparison import map_pair
from autograder.report.exercise_summary import number, spoken
from autograder.report.failure_view import Command, failure_view
from autograder.report.glyphs import Glyphs
from autograder.report.header import title_line
from autograder.report.layout import NARROWEST, Page, blocks, next_lines
from autograder.report.prints import print_parts
from autograder.report.states import check_state
from autograder.report.terminal_failure import WHOLE, failure_lines, print_lines
from autograder.report.terminal_maps import number_lines, number_sentences, slice_lines
from autograder.results.model import CheckResult, ExerciseResult, Maps, PrintOutput


def render_evidence(
    console: Console,
    exercise: ExerciseResult,
    check: CheckResult,
    *,
    glyphs: Glyphs,
    plain: bool = False,
    file_path: Path | None = None,
    slices: Sequence[Maps] = (),
    next_commands: Sequence[Command] = (),
) -> None:
    """Show every measurement of a failed check; `slices` are more slices of the same result."""
    view = failure_view(check, prints=exercise.prints, hints_shown=0, every_measurement=True)
    more = list(filter(None, map(map_pair, slices)))
    if plain or console.width < NARROWEST:
        head = f"{check_state(check).word}. Exercise {number(exercise.id)}, {exercise.title}: {spoken(check.id)}."
        numbers = [line for maps in (view.maps, *more) if maps for line in number_sentences(maps)]
        failure = sentences.failure_sentences(view, WHOLE.printed)
        sentences.show(console, [head, *failure, *numbers, *sentences.next_sentences(next_commands)])
        return
    page = Page.on(console, glyphs, widest=console.width)
    title = Text.assemble(title_line(page, exercise), page.text(f", {spoken(check.id)}", "bold"))
    parts = (
        page.wrap(title, 0),
        failure_lines(page, view, file_path, WHOLE),
        number_lines(page, view.maps) if view.maps else [],
        *(lines for maps in more for lines in (slice_lines(page, maps), number_lines(page, maps))),
        next_lines(page, next_commands),
    )
    page.show(blocks(parts))


def render_prints(console: Console, prints: Sequence[PrintOutput], *, glyphs: Glyphs, plain: bool = False) -> None:
    """Show all that the code printed."""
    parts = print_parts(prints)
    if plain or console.width < NARROWEST:
        sentences.show(console, sentences.print_sentences(parts, WHOLE.printed))
        return
    page = Page.on(console, glyphs, widest=console.width)
    if parts:
        page.show([Text(), *print_lines(page, parts, WHOLE.printed), Text()])
