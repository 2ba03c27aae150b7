"""Lines of styled text whose number and width are known before they are printed, and pictures made of them."""

import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from autograder.results import ExerciseResult, Picture

from .escaping import (
    NARROWEST,
    USUAL,
    Glyphs,
    columns_of,
    folds,
    hang_of,
    next_rows,
    one_line,
    printable,
    with_whole_code,
)
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


def packed(items: Sequence[Text], width: int) -> list[Text]:
    """Return the items side by side, on as few lines as possible."""
    lines: list[Text] = []
    for item in items:
        if lines and lines[-1].cell_len + 2 + item.cell_len <= width:
            lines[-1] = Text.assemble(lines[-1], "  ", item)
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


# Two-dimensional numbers: their scale, and where two grids differ. None stands for a number that is not finite.

Grid = Sequence[Sequence[float | None]]

_SOFT = 0.7  # an exponent below 1, so that a small number beside a large one is not white
_NOTICEABLE = 1e-4  # smaller differences, measured against the largest number, come from rounding


def finite(grid: Grid) -> Iterator[float]:
    """Yield the finite numbers."""
    return (number for row in grid for number in row if number is not None)


def greatest(*grids: Grid) -> float:
    """Return the largest magnitude of any finite number."""
    return max((abs(number) for grid in grids for number in finite(grid)), default=0.0)


def strength(value: float, most: float) -> float:
    """Return how strong the colour of a number is, from 0 to 1, on a scale up to `most`."""
    return float(min(abs(value) / most, 1.0) ** _SOFT) if most else 0.0


def legend(grids: Iterable[Grid]) -> list[str]:
    """Return what the colours mean that occur in these grids."""
    numbers = [number for grid in grids for row in grid for number in row]
    signs = (
        (any(number is not None and number > 0 for number in numbers), "orange +"),
        (any(number is not None and number < 0 for number in numbers), "blue −"),
        (None in numbers, "grey not finite"),
    )
    return [words for occurs, words in signs if occurs]


def cut_from(part: Sequence[Sequence[object]], whole: Grid) -> str:
    """Return which rows and columns are in the part; nothing if all are."""
    sizes = ((len(part), len(whole), "rows"), (len(part[0]), len(whole[0]), "columns"))
    return ", ".join(f"first {some} of {total} {word}" for some, total, word in sizes if some < total)


def where_differs(expected: Grid, yours: Grid) -> list[list[bool]]:
    """Return for each number whether yours differs, on the scale of both grids."""
    least = _NOTICEABLE * greatest(expected, yours)
    return [
        [
            (one is None) != (other is None) or (one is not None and other is not None and abs(one - other) > least)
            for one, other in zip(*rows, strict=False)
        ]
        for rows in zip(expected, yours, strict=False)
    ]


def where_not_zero(expected: Grid, yours: Grid) -> list[list[bool]]:
    """Return for each number whether 0 is expected and yours is not 0: what a mask lets through."""
    differs = where_differs(expected, yours)
    return [
        [apart and one == 0 for apart, one in zip(*rows, strict=True)] for rows in zip(differs, expected, strict=True)
    ]


# Two-dimensional numbers as a heat map in the terminal: half blocks in colour, else shades and marks.

RGB = tuple[int, int, int]

_BLUE, _WHITE, _ORANGE, _GREY = (0, 114, 178), (240, 240, 236), (213, 94, 0), (128, 128, 128)


def color_of(value: float | None, most: float) -> RGB:
    """Return the colour of a number on a scale from blue over white to orange; grey if it is not finite."""
    if value is None:
        return _GREY
    share = strength(value, most)
    end = _ORANGE if value > 0 else _BLUE
    red, green, blue = (round(near + share * (far - near)) for near, far in zip(_WHITE, end, strict=True))
    return red, green, blue


def heat_legend(page: Page, *shown: Grid) -> str:
    """Return what the colours of these numbers mean."""
    return page.glyphs.spell(", ".join(["white 0", *legend(shown)]))


def half_blocks(page: Page, grid: Grid, most: float, cell: int = 2) -> list[Text]:
    """Return two rows of numbers a line, each number `cell` columns wide."""
    lines = []
    for first in range(0, len(grid), 2):
        upper, lower = grid[first], grid[first + 1] if first + 1 < len(grid) else ()
        line = Text()
        for column, value in enumerate(upper):
            ground = f" on {_css(color_of(lower[column], most))}" if lower else ""
            line.append(page.glyphs.half * cell, Style.parse(_css(color_of(value, most)) + ground))
        lines.append(line)
    return lines


def full_blocks(page: Page, grid: Grid, most: float, cell: int = 2) -> list[Text]:
    """Return a row of numbers a line."""
    return half_blocks(page, [row for line in grid for row in (line, line)], most, cell)


def shades(page: Page, grid: Grid, cell: int = 2) -> list[Text]:
    """Return a row of numbers a line without colour: the larger a number, the denser its mark."""
    least, most = shade_range(grid)
    marks, spread = page.glyphs.shades, (most - least) or 1.0
    lines = []
    for row in grid:
        dense = (round((value - least) / spread * (len(marks) - 1)) if value is not None else -1 for value in row)
        lines.append(Text("".join((marks[level] if level >= 0 else "?") * cell for level in dense)))
    return lines


def shade_range(grid: Grid) -> tuple[float, float]:
    """Return the numbers of the lightest and the densest shade; the lightest is 0 if no number is below."""
    numbers = list(finite(grid))
    return min([0.0, *numbers]), max(numbers, default=0.0)


def marks(page: Page, marked: Sequence[Sequence[bool]], gap: str = " ") -> list[Text]:
    """Return a map of the marked elements."""
    lines = []
    for row in marked:
        line = Text()
        for column, is_marked in enumerate(row):
            line.append(gap if column else "")
            line.append(page.glyphs.differs if is_marked else page.glyphs.same, "bold red" if is_marked else "")
        lines.append(line)
    return lines


def _css(color: RGB) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)


# A picture in words: for readers who cannot see it, and for plain output.

MOST_SPOKEN = 32
"""A picture with more rows or bars is described by its size and range alone: nobody listens to so many numbers."""


def is_complete(picture: Picture) -> bool:
    """Return whether a picture has numbers, the same count in each row; bars have one row."""
    rows = picture.values
    return bool(rows and rows[0]) and len({len(row) for row in rows}) == 1 and (not picture.bars or len(rows) == 1)


def in_words(picture: Picture) -> str:
    """Describe a picture: its size, its range and its content.

    The content is every number of bars, the places of the ones in a picture of 0 and 1, and else the largest number
    of each row that has a label.
    """
    numbers = list(finite(picture.values))
    if not is_complete(picture) or not numbers:
        return ""
    description = _bars(picture, numbers) if picture.bars else _grid(picture, numbers)
    return f"Picture: {one_line(picture.title).rstrip('.')}: {description}."


def _bars(picture: Picture, numbers: Sequence[float]) -> str:
    count = len(picture.values[0])
    size = f"{count} bars{_of(picture.columns)}, heights{_of(picture.rows)} from {_range(numbers)}"
    if count > MOST_SPOKEN:
        return f"{size}; {_largest(picture)}"
    names = picture.column_labels
    labels = (f"{one_line(names[index])} " if index < len(names) else "" for index in range(count))
    bars = (f"{label}{_number(height)}" for label, height in zip(labels, picture.values[0], strict=True))
    return f"{size}; {', '.join(bars)}"


def _grid(picture: Picture, numbers: Sequence[float]) -> str:
    rows, columns = len(picture.values), len(picture.values[0])
    size = f"{rows} rows{_of(picture.rows)} and {columns} columns{_of(picture.columns)}"
    if set(numbers) == {0.0, 1.0} and rows <= MOST_SPOKEN:
        return (
            f"{size}, 1 in these columns and 0 in the others: {'; '.join(_ones(picture, row) for row in range(rows))}"
        )
    extent = f"{size}, values from {_range(numbers)}"
    if any(picture.row_labels) and rows <= MOST_SPOKEN:
        return f"{extent}; the largest of each row: {'; '.join(_peaks(picture))}"
    return f"{extent}; {_largest(picture)}"


def _ones(picture: Picture, row: int) -> str:
    """Return the columns of a row that hold 1, neighbours as a range."""
    ranges: list[list[int]] = []
    for column in (index for index, value in enumerate(picture.values[row]) if value == 1):
        if ranges and column == ranges[-1][-1] + 1:
            ranges[-1] = [ranges[-1][0], column]
        else:
            ranges.append([column])
    columns = (" to ".join(_label(picture.column_labels, end) for end in ends) for ends in ranges)
    return f"{_label(picture.row_labels, row)}: {', '.join(columns) or 'none'}"


def _peaks(picture: Picture) -> Iterable[str]:
    """Yield for each row of numbers which column holds the largest."""
    for row, line in enumerate(picture.values):
        numbers = [(value, -column) for column, value in enumerate(line) if value is not None]
        if numbers:
            value, column = max(numbers)
            at = _label(picture.column_labels, -column) if picture.column_labels else f"column {-column}"
            yield f"{_label(picture.row_labels, row)}: {at} ({_number(value)})"


def _largest(picture: Picture) -> str:
    _, row, column = max(
        (value, -row, -column)
        for row, line in enumerate(picture.values)
        for column, value in enumerate(line)
        if value is not None
    )
    if picture.bars:
        return f"the largest is bar {1 - column}"
    at = f"row {_name(picture.row_labels, -row)}, column {_name(picture.column_labels, -column)}"
    return f"the largest is in {at}"


def _name(labels: Sequence[str], index: int) -> str:
    return f"{index}" if index >= len(labels) else f"{index} ({one_line(labels[index])})"


def _label(labels: Sequence[str], index: int) -> str:
    return f"{index}" if index >= len(labels) else one_line(labels[index])


def _of(axis: str) -> str:
    return f" ({one_line(axis)})" if axis else ""


def _range(numbers: Sequence[float]) -> str:
    return f"{_number(min(numbers))} to {_number(max(numbers))}"


def _number(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.3g}"


MOST_PICTURES, TALLEST_PICTURE = 2, 16
_AROUND = 3  # lines of a picture that are not cells: its title, what its columns are called, its caption
_LONGEST_LABEL, _LONGEST_NAME, _NARROWEST_LABEL = 12, 7, 3
_MOST_HINTS = 3
_MOST_STACKED = 10  # rows of cells that bars are made of


def unused_lines(page: Page, unused_hints: Sequence[str]) -> list[Text]:
    """Return the hints the student did not need."""
    hints = [page.text(one_line(hint)) for hint in unused_hints[:_MOST_HINTS]]
    if not hints:
        return []
    return [page.text("  Hints you did not need", LABEL), *(line for hint in hints for line in page.wrap(hint, 4))]


def picture_lines(page: Page, pictures: Sequence[Picture], rows: int) -> list[Text]:
    """Return the pictures in at most `rows` lines: side by side if they fit, and fewer if they do not."""
    whole = [picture for picture in pictures[:MOST_PICTURES] if is_complete(picture)]
    tallest = min(rows, TALLEST_PICTURE)
    if len(whole) == 2 and page.width >= 80:
        half = Page(page.console, page.glyphs, (page.width - 2) // 2)
        left, right = (one_picture(half, picture, tallest) for picture in whole)
        if max(breadth(left), breadth(right)) <= half.width and _keeps_labels(half, whole):
            return beside(left, [line[2:] for line in right], 4)
    while whole:
        height = min((rows - len(whole) + 1) // len(whole), TALLEST_PICTURE)
        if height >= _AROUND + 4:
            return blocks(one_picture(page, picture, height) for picture in whole)
        whole.pop()
    return []


def one_picture(page: Page, picture: Picture, height: int) -> list[Text]:
    """Return a picture in at most `height` lines, with its labels and its axes."""
    lines = max(height - _AROUND, 1)
    picture = _stacked(picture, min(lines, _MOST_STACKED)) if picture.bars else picture
    rows = lines if any(picture.row_labels) or not page.paints else 2 * lines
    labels = [page.cut(page.text(one_line(label)), _LONGEST_LABEL) for label in picture.row_labels[:rows]]
    start = breadth(labels) + 1 if any(picture.row_labels) else 0
    cell = _cell(picture, page.width - 2 - start)
    grid = [row[: (page.width - 2 - start) // cell] for row in picture.values[:rows]]
    title = page.cut(page.text(one_line(picture.title), "bold"), page.width - 2)
    head = _column_labels(page, picture.column_labels[: len(grid[0])], cell, start)
    lines_above = (title, *head)
    cells = _labelled(labels, _cells(page, grid, greatest(picture.values), cell, start > 0))
    below = page.wrap(page.text(_caption(page, picture, grid), SECONDARY))
    return [*(indented(line, 2) for line in (*lines_above, *cells)), *below][: max(height, _AROUND + 1)]


def _stacked(picture: Picture, rows: int) -> Picture:
    """Return bars as rows of cells, full, empty or partly full; the label of a row is the number at its middle."""
    heights = picture.values[0]
    numbers = [height for height in heights if height is not None]
    least, most = min([0.0, *numbers]), max([0.0, *numbers])
    step = (most - least) / rows or 1.0
    edges = [least + step * row for row in reversed(range(rows))]
    cells = (
        tuple(None if height is None else min(max((height - edge) / step, 0.0), 1.0) for height in heights)
        for edge in edges
    )
    return replace(picture, values=tuple(cells), row_labels=tuple(f"{edge + step / 2:.2g}" for edge in edges))


def _cells(page: Page, grid: Grid, most: float, cell: int, named: bool) -> list[Text]:
    if not page.paints:
        return shades(page, grid, cell)
    return full_blocks(page, grid, most, cell) if named else half_blocks(page, grid, most, cell)


def _labelled(labels: Sequence[Text], cells: list[Text]) -> list[Text]:
    """Return lines of cells behind the labels of their rows."""
    if not any(labels):
        return cells
    named = [*labels, *[Text()] * (len(cells) - len(labels))][: len(cells)]
    return columns(list(zip(named, cells, strict=True)), (True, False), gap=1)


def _caption(page: Page, picture: Picture, grid: Grid) -> str:
    """Return the axes, which part is shown, and the meaning of colours or shades."""
    words = ("height", "bars") if picture.bars else ("rows", "columns")
    names = zip(words, (picture.rows, picture.columns), strict=True)
    axes = ", ".join(f"{word}: {one_line(name)}" for word, name in names if name)
    scale = "" if picture.bars else _scale(page, grid)
    return "; ".join(filter(None, (axes, cut_from(grid, picture.values), scale)))


def _cell(picture: Picture, room: int) -> int:
    """Return how many columns a number takes: as many as its label needs if there is room."""
    wide = len(picture.values[0])
    longest = max((len(label) for label in picture.column_labels), default=0)
    most = max(room // wide, 1)
    if longest and most > _NARROWEST_LABEL:
        return min(most, max(longest + 1, 2), _LONGEST_NAME)
    return min(most, 2)


def _column_labels(page: Page, labels: Sequence[str], cell: int, start: int) -> list[Text]:
    if not any(labels) or cell <= _NARROWEST_LABEL:
        return []
    line = Text(" " * start)
    for label in labels:
        word = page.cut(page.text(one_line(label), SECONDARY), cell - 1)
        word.pad_right(cell - word.cell_len)
        line.append_text(word)
    line.rstrip()
    return [line]


def _scale(page: Page, grid: Grid) -> str:
    if page.paints:
        return heat_legend(page, grid)
    least, most = shade_range(grid)
    lightest = "blank" if page.glyphs.shades[0] == " " else page.glyphs.shades[0]
    return f"{lightest} {least:.3g} to {page.glyphs.shades[-1]} {most:.3g}"


def _keeps_labels(half: Page, pictures: Sequence[Picture]) -> bool:
    """Return whether half of the page is wide enough for the labels and cells of each picture."""
    return all(
        len(picture.values[0]) * (5 if any(picture.column_labels) else 1)
        + (14 if any(picture.row_labels) or picture.bars else 2)
        <= half.width
        for picture in pictures
    )
