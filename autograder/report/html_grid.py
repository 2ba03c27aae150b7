"""Two-dimensional numbers as inline SVG: orange is positive, blue negative, a larger number stronger."""

from collections import defaultdict
from collections.abc import Sequence

from autograder.report.grids import Grid, greatest, strength
from autograder.report.html_style import LIGHT
from autograder.report.html_text import text

WIDEST, TALLEST = 440, 280
"""Pixels of all cells of a grid, at most."""
LARGEST_CELL, SMALLEST_CELL = 20.0, 2.0
MOST_TITLES = 400
"""A grid of more cells has no tooltips: the file would be large, and the cells are too small to point at."""

_LEVELS = 16  # of strength: one path for each keeps the file small
_LETTER = 6.4  # pixels, of the labels
_LABEL_CELL = 11.0  # a label fits beside a cell from this size on


def grid_svg(
    values: Grid,
    alt: str,
    *,
    most: float | None = None,
    marked: Sequence[Sequence[bool]] = (),
    row_labels: Sequence[str] = (),
    column_labels: Sequence[str] = (),
    largest_cell: float = LARGEST_CELL,
) -> str:
    """Return a grid on the scale from 0 to `most`, with a cross on the `marked` cells; `alt` describes it."""
    cell = max(min(largest_cell, WIDEST / len(values[0]), TALLEST / len(values)), SMALLEST_CELL)
    rows = row_labels if any(row_labels) and cell >= _LABEL_CELL else ()
    columns = column_labels if any(column_labels) and cell >= _LABEL_CELL else ()
    left = max((len(label) for label in rows), default=0) * _LETTER + (6 if rows else 0)
    upright = max((len(label) for label in columns), default=0) * _LETTER > cell - 3
    top = _height_of(columns, upright)
    wide = left + cell * len(values[0]) + (0.5 * _height_of(columns[-1:], upright) if upright else 0)
    high = top + cell * len(values)
    parts = [
        _labels(rows, columns, cell, left, top, upright),
        f'<g transform="translate({left:g} {top:g}) scale({cell:g})">',
        _cells(values, greatest(values) if most is None else most, gap=0.08 if cell >= 10 else 0.0),
        _titles(values) if len(values) * len(values[0]) <= MOST_TITLES else "",
        "</g>",
        _crosses(marked, cell, left, top),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}" role="img" '
        f'viewBox="0 0 {wide:.0f} {high:.0f}" aria-label="{text(alt)}">{"".join(parts)}</svg>'
    )


def _cells(values: Grid, most: float, gap: float) -> str:
    """Return the background, and one path for all cells of one strength."""
    paths: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    size = 1 - gap
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            at = f"M{column} {row}h{size:g}v{size:g}h-{size:g}z"
            paths["zero", _LEVELS].append(at)
            level = _LEVELS if value is None else round(strength(value, most) * _LEVELS)
            if level:
                paths["none" if value is None else "high" if value > 0 else "low", level].append(at)
    return "".join(
        f'<path class="{kind}" fill="{LIGHT[kind]}"{_opacity(level)} d="{"".join(cells)}"/>'
        for (kind, level), cells in sorted(paths.items(), key=lambda item: item[0][0] != "zero")
    )


def _opacity(level: int) -> str:
    return "" if level == _LEVELS else f' fill-opacity="{level / _LEVELS:.2g}"'


def _titles(values: Grid) -> str:
    """Return a tooltip for each cell."""
    cells = "".join(
        f'<rect x="{column}" y="{row}" width="1" height="1">'
        f"<title>{row}, {column}: {'not finite' if value is None else format(value, '.4g')}</title></rect>"
        for row, line in enumerate(values)
        for column, value in enumerate(line)
    )
    return f'<g fill="none" pointer-events="all">{cells}</g>'


def _crosses(marked: Sequence[Sequence[bool]], cell: float, left: float, top: float) -> str:
    reach, size = 0.28 * cell, 0.56 * cell
    path = "".join(
        f"M{left + (column + 0.46) * cell - reach:.1f} {top + (row + 0.46) * cell - reach:.1f}"
        f"l{size:.1f} {size:.1f}m0 -{size:.1f}l-{size:.1f} {size:.1f}"
        for row, line in enumerate(marked)
        for column, is_marked in enumerate(line)
        if is_marked
    )
    return f'<path class="differs" stroke="{LIGHT["bad"]}" fill="none" d="{path}"/>' if path else ""


def _labels(rows: Sequence[str], columns: Sequence[str], cell: float, left: float, top: float, upright: bool) -> str:
    beside = (
        f'<text x="{left - 5:.1f}" y="{top + (row + 0.5) * cell + 4:.1f}" text-anchor="end">{text(label)}</text>'
        for row, label in enumerate(rows)
    )
    above = (_above(label, left + (column + 0.46) * cell, top - 5, upright) for column, label in enumerate(columns))
    return "".join((*beside, *above))


def _above(label: str, x: float, y: float, upright: bool) -> str:
    if upright:
        return f'<text transform="translate({x + 3:.1f} {y:.1f}) rotate(-60)">{text(label)}</text>'
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{text(label)}</text>'


def _height_of(labels: Sequence[str], upright: bool) -> float:
    longest = max((len(label) for label in labels), default=0)
    return 0.0 if not longest else 0.87 * longest * _LETTER + 12 if upright else 17.0
