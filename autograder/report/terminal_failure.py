"""A failure in the terminal, in as many lines as there is room for."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from autograder.report.failure_view import FailureView
from autograder.report.layout import LABEL, SECONDARY, Page, blocks, next_lines
from autograder.report.prints import MOST_LINES, PrintPart, fitting_parts
from autograder.report.terminal_evidence import comparison_lines, element_lines, value_lines
from autograder.report.terminal_location import location_lines

_EXPLANATION_LINES = 5


@dataclass(frozen=True)
class Extent:
    """How many lines of each part of a failure are shown."""

    table: bool
    map_lines: int
    witnesses: int
    printed: int
    before: int = 2
    claim: bool = True


# The parts that say least go first: the claim, then rows of maps, then elements, then the table. Never the location.
_EXTENTS = (
    Extent(True, 8, 5, MOST_LINES),
    Extent(True, 8, 5, 5),
    Extent(True, 8, 5, 3),
    Extent(True, 8, 5, 3, before=1),
    Extent(True, 8, 5, 3, before=1, claim=False),
    Extent(True, 6, 4, 2, before=1, claim=False),
    Extent(True, 5, 4, 2, before=1, claim=False),
    Extent(True, 4, 3, 2, before=1, claim=False),
    Extent(True, 0, 5, 2, before=1, claim=False),
    Extent(True, 0, 3, 2, before=1, claim=False),
    Extent(False, 0, 3, 1, before=1, claim=False),
    Extent(False, 0, 0, 1, before=1, claim=False),
)
# A low terminal has neither table nor maps.
_BRIEF = (
    Extent(False, 0, 5, MOST_LINES),
    Extent(False, 0, 3, 5),
    Extent(False, 0, 5, 3),
    Extent(False, 0, 3, 3),
    Extent(False, 0, 3, 1, before=1, claim=False),
    Extent(False, 0, 0, 1, before=1, claim=False),
    Extent(False, 0, 0, 1, before=0, claim=False),
)
WHOLE = Extent(True, 1000, 1000, 1000)


def fitted_lines(page: Page, view: FailureView, file_path: Path | None, rows: int, brief: bool = False) -> list[Text]:
    """Return a failure in at most `rows` lines if that can be done; `brief` leaves out the table and the maps."""
    for extent in _BRIEF if brief else _EXTENTS:
        lines = failure_lines(page, view, file_path, extent)
        if len(lines) <= rows:
            break
    return lines


def failure_lines(page: Page, view: FailureView, file_path: Path | None, extent: Extent) -> list[Text]:
    """Return a failure to that extent."""
    claim = page.wrap(page.text(f"Check: {view.claim}", SECONDARY)) if view.claim and extent.claim else []
    return blocks(
        (
            [*_message_lines(page, view), *_explanation_lines(page, view), *claim],
            location_lines(page, view.location, file_path, extent.before) if view.location else [],
            value_lines(page, view.values) if view.values else [],
            comparison_lines(page, view.comparison) if view.comparison and extent.table else [],
            element_lines(page, view.witnesses, view.maps, extent.map_lines, extent.witnesses),
            print_lines(page, view.prints, extent.printed),
            _hint_lines(page, view),
            next_lines(page, view.next_commands),
        )
    )


def _message_lines(page: Page, view: FailureView) -> list[Text]:
    """Return the opening in bold, and the rest of the message on a line of its own if that takes no more room."""
    sentences = [page.text(view.opening, "bold"), *([page.text(view.more)] if view.more else [])]
    together = page.wrap(Text(" ").join(sentences))
    separate = [line for sentence in sentences for line in page.wrap(sentence)]
    return separate if len(separate) <= len(together) else together


def _explanation_lines(page: Page, view: FailureView) -> list[Text]:
    lines = [line for text in view.explanation for line in page.wrap(page.text(text)) if line.plain]
    if len(lines) <= _EXPLANATION_LINES:
        return lines
    return [*lines[:_EXPLANATION_LINES], page.text(f"  {page.glyphs.ellipsis}")]


def print_lines(page: Page, parts: Sequence[PrintPart], most: int = MOST_LINES) -> list[Text]:
    """Return what the code printed, below where it came from, and whether it printed more."""
    shown, others = fitting_parts(parts, most)
    lines = []
    for part in shown:
        lines += page.wrap(page.text(part.label, SECONDARY))
        lines += [page.cut(page.text(f"    {line}"), page.width) for line in part.lines]
    more = page.text(f"  {page.glyphs.ellipsis} and more in other trials", SECONDARY)
    return [*lines, *([more] if others else [])]


def _hint_lines(page: Page, view: FailureView) -> list[Text]:
    """Return the newest hint."""
    if not view.hints:
        return []
    label, hint = view.hints[-1]
    return page.wrap(Text.assemble(page.text(label, LABEL), "  ", page.text(hint)))
