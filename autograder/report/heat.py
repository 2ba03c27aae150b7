"""Two-dimensional numbers as a heat map in the terminal: half blocks in colour, else shades and marks."""

from collections.abc import Sequence

from rich.style import Style
from rich.text import Text

from autograder.report import grids
from autograder.report.grids import Grid, finite, strength
from autograder.report.layout import Page

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


def legend(page: Page, *shown: Grid) -> str:
    """Return what the colours of these numbers mean."""
    return page.glyphs.spell(", ".join(["white 0", *grids.legend(shown)]))


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
