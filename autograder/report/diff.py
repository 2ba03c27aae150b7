"""`course diff`: everything that is known about a failure, however long it is."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder.report import plain as sentences
from autograder.report.failure import WHOLE, extended
from autograder.report.glyphs import Glyphs
from autograder.report.header import title_line
from autograder.report.layout import NARROWEST, Page, blocks, next_lines
from autograder.report.maps import number_lines, number_sentences, slice_lines
from autograder.report.words import STATES, number, spoken
from autograder.results.model import CheckResult, ExerciseResult, Maps


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
    own = check.finding.evidence.maps if check.finding and check.finding.evidence else None
    if plain or console.width < NARROWEST:
        head = f"{STATES[check.status].word}. Exercise {number(exercise.id)}, {exercise.title}: {spoken(check.id)}."
        numbers = [line for each in (own, *slices) if each for line in number_sentences(each)]
        said = [head, *sentences.failure_sentences(check), *numbers, *sentences.next_sentences(next_commands)]
        sentences.show(console, said)
        return
    page = Page.on(console, glyphs, widest=console.width)
    title = Text.assemble(title_line(page, exercise), page.text(f", {spoken(check.id)}", "bold"))
    parts = (
        page.wrap(title, 0),
        extended(page, check, file_path, WHOLE, hint=0),
        number_lines(page, own) if own else [],
        *(lines for each in slices for lines in (slice_lines(page, each), number_lines(page, each))),
        next_lines(page, next_commands),
    )
    page.show(blocks(parts))
