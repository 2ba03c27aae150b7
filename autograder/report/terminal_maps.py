"""The maps of a failure in the terminal: both on one scale in colour; without colour, the elements to look at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.text import Text

from autograder.report.comparison import MapPair
from autograder.report.grids import Grid, cut_from, finite, where_differs
from autograder.report.heat import full_blocks, half_blocks, legend, marks
from autograder.report.layout import SECONDARY, Page, beside, breadth, columns, indented

NARROWEST_WITH_MAPS = 60
_VISIBLE = 0.02  # an eye sees no difference of colour below this share of the scale
_APART = 4
_SMALLEST, _LARGEST = 1e-2, 1e5  # numbers outside are written with an exponent


@dataclass(frozen=True)
class MapLines:
    """Maps as lines, and the caption below them."""

    lines: list[Text]
    caption: str


def map_lines(page: Page, maps: MapPair, rows: int, cell: int = 2, tall: bool = False) -> MapLines | None:
    """Return the maps in at most `rows` lines of cells, each `cell` columns wide, and a whole line high if `tall`.

    None if they would show nothing, or do not fit.
    """
    if page.width < NARROWEST_WITH_MAPS or rows < 1:
        return None
    return _in_color(page, maps, rows, cell, tall) if page.paints else _marked(page, maps, rows, " " * (cell - 1))


def slice_lines(page: Page, maps: MapPair) -> list[Text]:
    """Return the maps of one slice in full size, with their caption."""
    whole = map_lines(page, maps, len(maps.expected))
    return [*whole.lines, *page.wrap(page.text(whole.caption, SECONDARY))] if whole else []


def number_lines(page: Page, maps: MapPair) -> list[Text]:
    """Return the numbers of one slice, expected beside yours if both fit; those that differ are marked."""
    differs = where_differs(maps.expected, maps.yours)
    all_differ = all(map(all, differs))
    legend = "every number differs" if all_differ else f"{page.glyphs.differs} marks a number that differs"
    for fewer in range(3):
        spell = _spelling(maps, fewer)
        expected = [page.text("expected", SECONDARY), *_numbers(page, maps.expected, spell)]
        yours = [page.text("yours", SECONDARY), *_numbers(page, maps.yours, spell, () if all_differ else differs)]
        if max(breadth(expected), breadth(yours)) + 2 <= page.width:
            break
    together = breadth(expected) + _APART + breadth(yours) + 2 <= page.width
    lines = beside(expected, yours, _APART) if together else [*expected, Text(), *yours]
    caption = page.text(f"{maps.caption}; {legend}", SECONDARY)
    return [*(page.cut(indented(line, 2), page.width) for line in lines), *page.wrap(caption)]


def number_sentences(maps: MapPair) -> list[str]:
    """Return the numbers of one slice as sentences, one for each row."""
    spell = _spelling(maps)
    rows = enumerate(zip(maps.expected, maps.yours, strict=True))
    return [
        f"Slice: {maps.caption}.",
        *(
            f"Row {index}: as expected: {', '.join(map(spell, expected))}."
            if expected == yours
            else f"Row {index}: expected {', '.join(map(spell, expected))}; yours {', '.join(map(spell, yours))}."
            for index, (expected, yours) in rows
        ),
    ]


def _numbers(
    page: Page, grid: Grid, spell: Callable[[float | None], str], differs: Sequence[Sequence[bool]] = ()
) -> list[Text]:
    rows = []
    for index, row in enumerate(grid):
        wrong = differs[index] if differs else [False] * len(row)
        rows.append(
            [
                page.text(f"{page.glyphs.differs if is_wrong else ''}{spell(value)}", "bold red" if is_wrong else "")
                for value, is_wrong in zip(row, wrong, strict=True)
            ]
        )
    return columns(rows, (True,) * len(rows[0]), gap=1)


def _spelling(maps: MapPair, fewer: int = 0) -> Callable[[float | None], str]:
    """Return how the numbers are written: all with the same decimals if possible, `fewer` than there is room for."""
    most = maps.largest
    whole = all(value == int(value) for grid in (maps.expected, maps.yours) for value in finite(grid))
    decimals = 0 if whole else max((3 if most < 10 else 2 if most < 100 else 1) - fewer, 1)
    form = f".{decimals}f" if _SMALLEST <= most < _LARGEST else ".3g"
    return lambda value: "not finite" if value is None else format(value, form)


def _in_color(page: Page, maps: MapPair, rows: int, cell: int, tall: bool) -> MapLines | None:
    gap = 4 if page.width >= 100 else 2
    cell = cell if 2 * cell * len(maps.expected[0]) + gap + 2 <= page.width else 1
    height, width = rows if tall else 2 * rows, (page.width - 2 - gap) // (2 * cell)
    expected, yours = ([row[:width] for row in grid[:height]] for grid in (maps.expected, maps.yours))
    if not _is_visible(expected, yours, maps.largest):
        return None
    blocks = full_blocks if tall else half_blocks
    left = [page.text("expected", SECONDARY), *blocks(page, expected, maps.largest, cell)]
    right = [page.text("yours", SECONDARY), *blocks(page, yours, maps.largest, cell)]
    return _captioned(maps, beside(left, right, gap), expected, f"one scale: {legend(page, expected, yours)}")


def _marked(page: Page, maps: MapPair, rows: int, gap: str) -> MapLines | None:
    if not maps.marked:
        return None
    title, words = ("where 0 is expected", "yours is not 0") if maps.leaks else ("where they differ", "differs")
    gap = gap if 2 * len(maps.marked[0]) + 1 <= page.width else ""
    part = [row[: (page.width - 2) // (1 + len(gap))] for row in maps.marked[:rows]]
    if not any(map(any, part)):
        return None
    lines = [page.text(title, SECONDARY), *marks(page, part, gap)]
    return _captioned(maps, lines, part, f"{page.glyphs.differs} {words}")


def _captioned(maps: MapPair, lines: list[Text], part: Sequence[Sequence[object]], words: str) -> MapLines:
    parts = (maps.caption, cut_from(part, maps.expected), words)
    return MapLines([indented(line, 2) for line in lines], "; ".join(filter(None, parts)))


def _is_visible(expected: Grid, yours: Grid, most: float) -> bool:
    """Return whether an eye would see a difference of colour anywhere."""
    pairs = (pair for rows in zip(expected, yours, strict=True) for pair in zip(*rows, strict=True))
    return any(
        (one is None) != (other is None)
        or (one is not None and other is not None and abs(one - other) > _VISIBLE * most)
        for one, other in pairs
    )
