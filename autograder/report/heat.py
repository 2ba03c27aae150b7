"""Two-dimensional numbers as cells: half blocks in colour, or shades and marks where there is none."""

from collections.abc import Iterable, Sequence

from rich.style import Style
from rich.text import Text

from autograder.report.layout import Page

Grid = Sequence[Sequence[float | None]]
RGB = tuple[int, int, int]

_BLUE, _WHITE, _ORANGE, _GREY = (0, 114, 178), (240, 240, 236), (213, 94, 0), (128, 128, 128)
_FAINT = 0.7
"""Below 1, so that a small number beside a large one is no white."""

_NOTICEABLE = 1e-4


def greatest(*grids: Grid) -> float:
    """Return the largest magnitude of any finite number in them."""
    return max((abs(each) for grid in grids for each in _finite(grid)), default=0.0)


def color_of(value: float | None, most: float) -> RGB:
    """Return the colour of a number on a scale that goes from blue over white to orange; no finite number is grey."""
    if value is None:
        return _GREY
    share = strength(value, most)
    end = _ORANGE if value > 0 else _BLUE
    red, green, blue = (round(near + share * (far - near)) for near, far in zip(_WHITE, end, strict=True))
    return red, green, blue


def strength(value: float, most: float) -> float:
    """Return how strong the colour of a number is, from 0 to 1."""
    return float(min(abs(value) / most, 1.0) ** _FAINT) if most else 0.0


def cut_from(shown: Sequence[Sequence[object]], whole: Grid) -> str:
    """Say which part of an array is shown; nothing where all of it is."""
    sizes = ((len(shown), len(whole), "rows"), (len(shown[0]), len(whole[0]), "columns"))
    return ", ".join(f"first {some} of {every} {word}" for some, every, word in sizes if some < every)


def legend(page: Page, *grids: Grid) -> str:
    """Return what the colours of these numbers mean, without those that do not occur."""
    numbers = [each for grid in grids for each in _finite(grid)]
    missing = any(each is None for grid in grids for row in grid for each in row)
    signs = ((any(each > 0 for each in numbers), "orange +"), (any(each < 0 for each in numbers), "blue −"))
    return page.glyphs.spell(
        ", ".join(["white 0", *(word for there, word in (*signs, (missing, "grey not finite")) if there)])
    )


def half_blocks(page: Page, grid: Grid, most: float, cell: int = 2) -> list[Text]:
    """Return two rows of numbers a line, each number that many columns wide."""
    lines = []
    for upper, lower in _pairs(grid):
        line = Text()
        for position, value in enumerate(upper):
            ground = f" on {_css(color_of(lower[position], most))}" if lower else ""
            line.append(page.glyphs.half * cell, Style.parse(_css(color_of(value, most)) + ground))
        lines.append(line)
    return lines


def full_blocks(page: Page, grid: Grid, most: float, cell: int = 2) -> list[Text]:
    """Return a row of numbers a line."""
    return half_blocks(page, [row for each in grid for row in (each, each)], most, cell)


def shades(page: Page, grid: Grid, cell: int = 2) -> list[Text]:
    """Return a row of numbers a line without colour: the larger a number, the denser its mark."""
    least, most = shade_range(grid)
    marks, spread = page.glyphs.shades, (most - least) or 1.0
    lines = []
    for row in grid:
        dense = (round((each - least) / spread * (len(marks) - 1)) if each is not None else -1 for each in row)
        lines.append(Text("".join((marks[place] if place >= 0 else "?") * cell for place in dense)))
    return lines


def shade_range(grid: Grid) -> tuple[float, float]:
    """Return the numbers of the lightest and the densest shade; the lightest is 0 where none is below."""
    numbers = list(_finite(grid))
    return min([0.0, *numbers]), max(numbers, default=0.0)


def where_differs(expected: Grid, yours: Grid) -> list[list[bool]]:
    """Return for each number whether yours is another one, seen at the scale of both."""
    least = _NOTICEABLE * greatest(expected, yours)
    return [
        [
            (one is None) != (other is None) or (one is not None and other is not None and abs(one - other) > least)
            for one, other in zip(*rows, strict=False)
        ]
        for rows in zip(expected, yours, strict=False)
    ]


def where_not_zero(expected: Grid, yours: Grid) -> list[list[bool]]:
    """Return for each number whether 0 is expected and yours is another one: what a mask lets through."""
    differs = where_differs(expected, yours)
    return [
        [apart and one == 0 for apart, one in zip(*rows, strict=True)] for rows in zip(differs, expected, strict=True)
    ]


def marks(page: Page, differs: Sequence[Sequence[bool]], gap: str = " ") -> list[Text]:
    """Return a map of where numbers differ."""
    lines = []
    for row in differs:
        line = Text()
        for position, each in enumerate(row):
            line.append(gap if position else "")
            line.append(page.glyphs.differs if each else page.glyphs.same, "bold red" if each else "")
        lines.append(line)
    return lines


def _pairs(grid: Grid) -> Iterable[tuple[Sequence[float | None], Sequence[float | None]]]:
    rows = list(grid)
    for place in range(0, len(rows), 2):
        yield rows[place], rows[place + 1] if place + 1 < len(rows) else ()


def _finite(grid: Grid) -> Iterable[float]:
    return (each for row in grid for each in row if each is not None)


def _css(color: RGB) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)
