"""`course diff`: everything that is known about a failure, however long it is."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from autograder.report import plain as sentences
from autograder.report.failure import failure_lines
from autograder.report.glyphs import Glyphs
from autograder.report.layout import NARROWEST, Page, blocks, next_lines
from autograder.report.model import CheckResult, ExerciseResult, Maps
from autograder.report.words import number


def render_evidence(
    console: Console,
    exercise: ExerciseResult,
    check: CheckResult,
    *,
    glyphs: Glyphs,
    plain: bool = False,
    file_path: Path | None = None,
    slices: Sequence[Maps] = (),
    next_commands: Sequence[tuple[str, str]] = (),
) -> None:
    """Show the whole evidence of a check that fails; `slices` are more slices of the same result, each a pair."""
    if plain or console.width < NARROWEST:
        sentences.show(console, [*sentences.failure_sentences(check), *sentences.next_sentences(next_commands)])
        return
    page = Page.on(console, glyphs, widest=console.width)
    title = page.wrap(page.text(f"{number(exercise.id)} {exercise.title}", "bold"), 0)
    captions = [line for each in slices for line in page.wrap(page.text(each.caption))]
    page.show(blocks((title, failure_lines(page, check, file_path, 1000), captions, next_lines(page, next_commands))))
