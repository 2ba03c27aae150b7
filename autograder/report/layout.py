"""Lines of styled text whose number and width are known before they are printed."""

import io
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from autograder.results import ExerciseResult

from .escaping import NARROWEST, USUAL, Glyphs, columns_of, folds, hang_of, next_rows, printable, with_whole_code
from .states import number, state_of

WIDEST = 100
SECONDARY = "bright_black"
LABEL = "bold cyan"


@dataclass(frozen=True)
class Page:
    """A console, its usable width and its glyphs."""

    console: Console
    glyphs: Glyphs
    width: int

    @property
    def paints(self) -> bool:
        """Whether cells can have any colour, not only the sixteen of the theme."""
        colors = self.console.color_system in ("256", "truecolor") and not self.console.no_color
        return colors and bool(self.glyphs.half)

    @classmethod
    def on(cls, console: Console, glyphs: Glyphs, widest: int = WIDEST) -> "Page":
        """Return the page of a console, no wider than lines are easy to read."""
        return cls(console, glyphs, min(console.width, widest))

    def text(self, text: str, style: str | Style = "") -> Text:
        """Return any text, of ours or of a student, safe to show."""
        return Text(self.glyphs.spell(printable(text)), style)

    def wrap(self, text: Text, indent: int = 2) -> list[Text]:
        """Return the lines of a paragraph, indented, without white space at their ends."""
        room = self.width - min(indent, self.width // 2)
        lines = [line for part in text.split("\n", allow_blank=True) for line in folded_text(part, room) or [Text()]]
        return [indented(line, self.width - room) for line in lines]

    def cut(self, text: Text, width: int) -> Text:
        """Return the text, shortened with an ellipsis if it is wider than `width`."""
        if text.cell_len <= width:
            return text
        ellipsis = self.glyphs.ellipsis[: max(width, 0)]
        short = text.copy()
        short.truncate(max(width - cell_len(ellipsis), 0), overflow="crop")
        return short.append(ellipsis)

    def show(self, lines: Iterable[Text]) -> None:
        """Print the lines."""
        for line in lines:
            show_line(self.console, line)


def show_line(console: Console, line: Text) -> None:
    """Print a line; as several lines if it is wider than the console."""
    wide = line.cell_len > console.width
    for part in folded_text(line, console.width, hang_of(line.plain)) if wide else [line]:
        _print(console, part)


def show_sentence(console: Console, line: Text, *, is_whole: bool = False) -> None:
    """Print a plain line: whole in a file or a pipe, and no wider than a terminal, unless a program reads it there."""
    if is_whole or (columns_of(console.file) is None and console.width >= NARROWEST):
        _print(console, line)
    else:
        show_line(console, line)


def _print(console: Console, line: Text) -> None:
    console.print(line, soft_wrap=True, markup=False, highlight=False, emoji=False)


def folded_text(text: Text, width: int, hang: int = 0) -> list[Text]:
    """Return the lines of a text, no wider than `width`, with its styles."""
    rows = folds(with_whole_code(text.plain, width), width, hang)
    return [indented(text[start:end], indent) for indent, start, end in rows]


def indented(line: Text, indent: int) -> Text:
    """Return the line behind that many spaces."""
    return Text.assemble(" " * indent, line) if line.plain else line


def apart(left: Text, right: Text, width: int) -> Text | None:
    """Return one line with a part at each end; None if both do not fit."""
    space = width - left.cell_len - right.cell_len
    return Text.assemble(left, " " * space, right) if right.plain and space >= 2 else None


def columns(rows: Sequence[Sequence[Text]], right: Sequence[bool], gap: int = 2) -> list[Text]:
    """Return the rows with their cells in columns; `right` says which are aligned to the right."""
    widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        line = Text()
        for position, (cell, width, to_right) in enumerate(zip(row, widths, right, strict=True)):
            space = " " * (width - cell.cell_len)
            line.append(" " * gap if position else "")
            line = Text.assemble(line, space, cell) if to_right else Text.assemble(line, cell, space)
        line.rstrip()
        lines.append(line)
    return lines


def breadth(lines: Iterable[Text]) -> int:
    """Return the width of the widest line."""
    return max((line.cell_len for line in lines), default=0)


def beside(left: Sequence[Text], right: Sequence[Text], gap: int) -> list[Text]:
    """Return the lines of both, the right ones in a column of their own."""
    start = breadth(left) + gap
    lines = []
    for one, other in zip_longest(left, right, fillvalue=Text()):
        space = " " * (start - one.cell_len) if other.plain else ""
        lines.append(Text.assemble(one, space, other))
    return lines


def packed(items: Sequence[Text], width: int, gap: int = 2) -> list[Text]:
    """Return the items side by side, on as few lines as possible."""
    lines: list[Text] = []
    for item in items:
        if lines and lines[-1].cell_len + gap + item.cell_len <= width:
            lines[-1] = Text.assemble(lines[-1], " " * gap, item)
        else:
            lines.append(item)
    return lines


def blocks(parts: Iterable[Sequence[Text]]) -> list[Text]:
    """Return the parts that have lines, with an empty line between two of them."""
    lines: list[Text] = []
    for part in filter(None, parts):
        lines += [Text(), *part] if lines else part
    return lines


def next_lines(page: Page, next_commands: Sequence[tuple[str, str]]) -> list[Text]:
    """Return the commands to run next, with the effect of each beside it, or below it on a narrow page."""
    spelled = [(page.text(command).plain, page.text(does).plain) for command, does in next_commands]
    lines = []
    for head, command, does in next_rows(spelled, page.width):
        line = Text.assemble(Text(head), Text(command, "cyan"), Text(does, SECONDARY))
        line.stylize(LABEL, len(head) - len(head.lstrip()), len(head.rstrip()))
        line.rstrip()
        lines.append(line)
    return lines


# The console that reports are shown on.


def report_console(*, plain: bool = False, color: bool | None = None) -> Console:
    """Return the console on stdout, which never raises for a character it cannot show.

    `color` forces colour on or off; without it the terminal, NO_COLOR and FORCE_COLOR decide.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console = Console(
        no_color=True if plain else None if color is None else not color,
        force_terminal=False if plain else (color or None),
        color_system=None if plain else "standard" if color else "auto",
        markup=False,
        highlight=False,
        emoji=False,
    )
    if console.is_dumb_terminal or console.width < 1:  # rich takes 80 columns there, and COLUMNS=0 as it is
        console.width = columns_of(sys.stdout) or USUAL
    return console


def title_line(page: Page, exercise: ExerciseResult) -> Text:
    """Return mark, state and title of an exercise."""
    state = state_of(exercise)
    mark = page.text(f"{getattr(page.glyphs, state.mark)} ", state.style)
    word = page.text(state.word, f"bold {state.style}")
    return Text.assemble(mark, word, " ", page.text(f"{number(exercise.id)} {exercise.title}", "bold"))
