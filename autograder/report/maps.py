"""The maps of a failure: expected and yours on one scale; without colour, where they differ."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.text import Text

from autograder.report.heat import (
    Grid,
    cut_from,
    full_blocks,
    greatest,
    half_blocks,
    legend,
    marks,
    where_differs,
    where_not_zero,
)
from autograder.report.layout import SECONDARY, Page, beside, breadth, columns, indented
from autograder.report.printable import one_line
from autograder.results.model import Maps

NARROWEST_WITH_MAPS = 60
_VISIBLE = 0.02
_FEW = 0.1
"""Fewer zeros than this share of all numbers may be zero by chance, and are no mask."""
_APART = 4
_SMALLEST, _LARGEST = 1e-2, 1e5  # of numbers that are written without an exponent


@dataclass(frozen=True)
class Drawn:
    """Maps as lines, and what is said below them."""

    lines: list[Text]
    caption: str


def drawn(page: Page, maps: Maps, rows: int, cell: int = 2, tall: bool = False) -> Drawn | None:
    """Return the maps in at most that many lines of cells, each so many columns wide, and a line high if `tall`.

    None where they would say nothing, or find no room.
    """
    if page.width < NARROWEST_WITH_MAPS or rows < 1 or not alike(maps):
        return None
    return _in_color(page, maps, rows, cell, tall) if page.paints else _where(page, maps, rows, " " * (cell - 1))


def slice_lines(page: Page, maps: Maps) -> list[Text]:
    """Return the maps of one slice in full size, with their caption."""
    whole = drawn(page, maps, len(maps.expected))
    return [*whole.lines, *page.wrap(page.text(whole.caption, SECONDARY))] if whole else []


def number_lines(page: Page, maps: Maps) -> list[Text]:
    """Return the numbers of one slice, expected beside yours where both fit; those that differ are marked."""
    if not alike(maps):
        return []
    differs = where_differs(maps.expected, maps.yours)
    every = all(map(all, differs))
    said = "every number differs" if every else f"{page.glyphs.differs} marks a number that differs"
    for fewer in range(3):
        spell = _spelling(maps, fewer)
        expected = [page.text("expected", SECONDARY), *_numbers(page, maps.expected, spell)]
        yours = [page.text("yours", SECONDARY), *_numbers(page, maps.yours, spell, () if every else differs)]
        if max(breadth(expected), breadth(yours)) + 2 <= page.width:
            break
    together = breadth(expected) + _APART + breadth(yours) + 2 <= page.width
    lines = beside(expected, yours, _APART) if together else [*expected, Text(), *yours]
    caption = page.text(f"{one_line(maps.caption).rstrip('.')}; {said}", SECONDARY)
    return [*(page.cut(indented(line, 2), page.width) for line in lines), *page.wrap(caption)]


def number_sentences(maps: Maps) -> list[str]:
    """Return the numbers of one slice as sentences, a row each."""
    if not alike(maps):
        return []
    spell = _spelling(maps)
    rows = enumerate(zip(maps.expected, maps.yours, strict=True))
    return [
        f"Slice: {one_line(maps.caption).rstrip('.')}.",
        *(
            f"Row {place}: as expected: {', '.join(map(spell, expected))}."
            if expected == yours
            else f"Row {place}: expected {', '.join(map(spell, expected))}; yours {', '.join(map(spell, yours))}."
            for place, (expected, yours) in rows
        ),
    ]


def _numbers(
    page: Page, grid: Grid, spell: Callable[[float | None], str], differs: Sequence[Sequence[bool]] = ()
) -> list[Text]:
    rows = []
    for place, row in enumerate(grid):
        wrong = differs[place] if differs else [False] * len(row)
        rows.append(
            [
                page.text(f"{page.glyphs.differs if each else ''}{spell(value)}", "bold red" if each else "")
                for value, each in zip(row, wrong, strict=True)
            ]
        )
    return columns(rows, (True,) * len(rows[0]), gap=1)


def _spelling(maps: Maps, fewer: int = 0) -> Callable[[float | None], str]:
    """Return how numbers of this size are written, all with the same number of digits where that can be."""
    most = greatest(maps.expected, maps.yours)
    grids = (maps.expected, maps.yours)
    whole = all(each is None or each == int(each) for grid in grids for row in grid for each in row)
    decimals = 0 if whole else max((3 if most < 10 else 2 if most < 100 else 1) - fewer, 1)
    form = f".{decimals}f" if _SMALLEST <= most < _LARGEST else ".3g"
    return lambda value: "not finite" if value is None else format(value, form)


def _in_color(page: Page, maps: Maps, rows: int, cell: int, tall: bool) -> Drawn | None:
    most, gap = greatest(maps.expected, maps.yours), 4 if page.width >= 100 else 2
    cell = cell if 2 * cell * len(maps.expected[0]) + gap + 2 <= page.width else 1
    high, wide = rows if tall else 2 * rows, (page.width - 2 - gap) // (2 * cell)
    expected, yours = _part(maps.expected, high, wide), _part(maps.yours, high, wide)
    if not _seen(expected, yours, most):
        return None
    blocks = full_blocks if tall else half_blocks
    left = [page.text("expected", SECONDARY), *blocks(page, expected, most, cell)]
    right = [page.text("yours", SECONDARY), *blocks(page, yours, most, cell)]
    return _captioned(maps, beside(left, right, gap), expected, f"one scale: {legend(page, expected, yours)}")


def _where(page: Page, maps: Maps, rows: int, gap: str) -> Drawn | None:
    differs, title, words = where_differs(maps.expected, maps.yours), "where they differ", "differs"
    if through := leaks(maps):
        differs, title, words = through, "where 0 is expected", "yours is not 0"
    if all(map(all, differs)) or not any(map(any, differs)):
        return None
    gap = gap if 2 * len(differs[0]) + 1 <= page.width else ""
    shown = [row[: (page.width - 2) // (1 + len(gap))] for row in differs[:rows]]
    if not any(map(any, shown)):
        return None
    lines = [page.text(title, SECONDARY), *marks(page, shown, gap)]
    return _captioned(maps, lines, shown, f"{page.glyphs.differs} {words}")


def leaks(maps: Maps) -> list[list[bool]]:
    """Return where a mask lets something through; nothing where there are too few zeros to be one."""
    found = where_not_zero(maps.expected, maps.yours)
    return found if sum(map(sum, found)) > _FEW * sum(map(len, found)) else []


def _captioned(maps: Maps, lines: list[Text], shown: Sequence[Sequence[object]], words: str) -> Drawn:
    parts = (one_line(maps.caption).rstrip("."), cut_from(shown, maps.expected), words)
    return Drawn([indented(line, 2) for line in lines], "; ".join(filter(None, parts)))


def alike(maps: Maps) -> bool:
    """Return whether both are whole and of one shape."""
    sizes = {len(row) for grid in (maps.expected, maps.yours) for row in grid}
    return len(maps.expected) == len(maps.yours) > 0 and len(sizes) == 1 and sizes != {0}


def _seen(expected: Grid, yours: Grid, most: float) -> bool:
    """Return whether an eye would see a difference of colour anywhere."""
    pairs = (pair for rows in zip(expected, yours, strict=True) for pair in zip(*rows, strict=True))
    return any(
        (one is None) != (other is None)
        or (one is not None and other is not None and abs(one - other) > _VISIBLE * most)
        for one, other in pairs
    )


def _part(grid: Grid, rows: int, wide: int) -> Grid:
    return [row[:wide] for row in grid[:rows]]
