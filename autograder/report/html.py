"""HTML from the Jinja2 templates in the rooms, and the cards that a notebook shows.

A text becomes one printable line, and is escaped, where a template writes it. Only three filters change that: `prose`
shows what stands in backticks as code, `code` keeps spaces, and `safe` marks the drawings and style sheets that the
engine itself makes.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

from autograder.results import ExerciseResult, Picture

from . import failures, pictures, states
from .escaping import one_line, printable
from .failures import Command, MapPair
from .pictures import Grid, finite, greatest, in_words, strength
from .terminal import WhyPage

if TYPE_CHECKING:
    from jinja2 import Environment

COLORS = {
    "ink": ("#1c1e22", "#dee0e4"),
    "soft": ("#5a5f69", "#9a9fa9"),
    "paper": ("#ffffff", "#17191f"),
    "line": ("#d5d8dd", "#3a3f48"),
    "code": ("#f0f0ec", "#23272e"),
    "good": ("#176f2c", "#7ccf7c"),
    "bad": ("#b00020", "#ff6b6b"),
    "warn": ("#8a5a00", "#e5c07b"),
    "key": ("#00606f", "#4ec9d8"),
    "high": ("#d55e00", "#ff8c3a"),
    "low": ("#0072b2", "#4aa8ff"),
    "zero": ("#efefeb", "#252a31"),
    "none": ("#8a8a8a", "#6b7078"),
}
"""The colours of all pages on light and on dark paper."""

LIGHT, DARK = ({name: color[dark] for name, color in COLORS.items()} for dark in (0, 1))

NAME = "course-card"
"""The class of the cards."""

SIGNS = {"passed": "✓", "failed": "✗", "waiting": "·", "problem": "!"}

_IN_BACKTICKS = re.compile(r"`([^`]+)`")

_LONGEST_LINE = 500  # longer than any page is wide


def render(template: str, **values: object) -> str:
    """Return a template, named by its path in the package, with these values."""
    return _environment().get_template(template).render(values)


def card(macro: str, **values: object) -> str:
    """Return what a macro of the cards makes of these values."""
    return str(getattr(_environment().get_template("report/templates/cards.html.j2").module, macro)(**values))


def text(words: str) -> str:
    """Return any words on one line, safe inside HTML."""
    return escape(one_line(words))


@cache
def style() -> str:
    """Return the style sheet of the cards; it changes nothing outside them."""
    return render("report/templates/card.css.j2")


@cache
def _environment() -> "Environment":
    """Return the environment of all templates, with the functions that they call."""
    import jinja2  # here, because most commands make no page
    from markupsafe import Markup

    def code(line: str) -> Markup:
        return Markup(escape(printable(line[:_LONGEST_LINE]).replace("\n", " ")))

    def prose(words: object) -> Markup:
        if isinstance(words, Markup):
            return words
        parts = enumerate(_IN_BACKTICKS.split(one_line(str(words))))
        return Markup("").join(Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in parts)

    def plain(value: object) -> object:
        return value if isinstance(value, Markup) else one_line(str(value))

    made = jinja2.Environment(
        autoescape=lambda name: not (name or "").endswith(".md.j2"),
        auto_reload=False,
        finalize=plain,
        loader=jinja2.FileSystemLoader(Path(__file__).parents[1]),
        lstrip_blocks=True,
        trim_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    helpers = (_colors, _drawing, _pair_of_maps, dedent, style)
    made.globals |= {helper.__name__.lstrip("_"): helper for helper in helpers}
    made.globals |= {"failures": failures, "pictures": pictures, "states": states}
    made.globals |= {"DARK": DARK, "LIGHT": LIGHT, "NAME": NAME, "SIGNS": SIGNS, "X": f".{NAME}.{NAME}.{NAME}"}
    made.filters |= {"code": code, "prose": prose}
    return made


def _colors(theme: Mapping[str, str]) -> str:
    """Return the colours of a theme as custom properties of CSS."""
    return "; ".join(f"--{name}: {color}" for name, color in theme.items())


def _drawing(picture: Picture) -> str:
    alt = in_words(picture)
    if picture.bars:
        return bars_svg(picture.values[0], alt, labels=picture.column_labels)
    return grid_svg(picture.values, alt, row_labels=picture.row_labels, column_labels=picture.column_labels)


def _pair_of_maps(pair: MapPair) -> Iterator[str]:
    """Yield the drawings of expected and yours on one scale, with crosses on the elements to look at."""
    rows, columns = pair.size
    for name, grid, crosses in (("expected", pair.expected, ()), ("yours", pair.yours, pair.marked)):
        numbers = list(finite(grid))
        extent = f"values from {min(numbers):.3g} to {max(numbers):.3g}" if numbers else "no finite value"
        alt = f"{name}, {rows} rows and {columns} columns, {pair.caption}; {extent}"
        yield grid_svg(grid, alt, most=pair.largest, marked=crosses)


# The cards.


def exercise_card(
    exercise: ExerciseResult,
    *,
    hints_shown: int = 1,
    attempt: int | None = None,
    unused_hints: Sequence[str] = (),
    warnings: Sequence[str] = (),
    notes: Sequence[str] = (),
    next_commands: Sequence[Command] = (),
    styled: bool = True,
) -> str:
    """Return the card of one exercise: what was achieved if it passes, else its first failure.

    `notes` are sentences about what was checked, and `warnings` those that come first. A page that contains the style
    wants cards that are not `styled`. The other arguments are those of `render_exercise`.
    """
    return card("exercise", **locals())


def why_card(page: WhyPage, next_commands: Sequence[Command] = ()) -> str:
    """Return the page of a misconception as a card."""
    return card("why", **locals())


def note_card(title: str, sentences: Sequence[str], *, kind: str = "wait") -> str:
    """Return a card with a title and some sentences; `kind` is pass, fail, problem or wait."""
    return card("note", **locals())


def hint_card(title: str, hints: Sequence[str], everything: int, notes: Sequence[str] = ()) -> str:
    """Return the hints given so far as a card, the last one open."""
    return card("hint", **locals())


def table_card(
    title: str, beside: str, head: Sequence[str], rows: Sequence[Sequence[str]], below: Sequence[str]
) -> str:
    """Return a card of a table whose cells are words."""
    return card("words_in_rows", **locals())


# Numbers in a row as inline SVG: one bar for each, up or down from 0, beside an axis.

WIDEST_BARS, HIGHEST_BARS = 400, 170
"""Pixels of all bars together."""
WIDEST_BAR = 24.0
MARKS = 3
"""Numbers beside the axis, from the lowest to the highest."""

_LEFT, _TOP, _BELOW = 46, 8, 18
_LETTER = 6.4  # pixels


def bars_svg(heights: Sequence[float | None], alt: str, *, labels: Sequence[str] = ()) -> str:
    """Return the bars, without one for a number that is not finite. `alt` describes them, `labels` name them."""
    numbers = list(finite([heights]))
    least, most = min([0.0, *numbers]), max([0.0, *numbers])
    spread = most - least or 1.0
    bar = min(WIDEST_BAR, WIDEST_BARS / len(heights))
    wide = bar * len(heights)

    def y(value: float) -> float:
        return _TOP + HIGHEST_BARS * (least + spread - value) / spread

    axis = "".join(
        f'<path class="axis" stroke="{LIGHT["none"]}" stroke-opacity=".4" d="M{_LEFT} {y(at):.1f}h{wide:.1f}"/>'
        f'<text x="{_LEFT - 6}" y="{y(at) + 4:.1f}" text-anchor="end">{at:.3g}</text>'
        for at in (least + spread * mark / (MARKS - 1) for mark in range(MARKS))
    )
    bars = "".join(
        f'<rect class="{"high" if value >= 0 else "low"}" fill="{LIGHT["high" if value >= 0 else "low"]}" '
        f'x="{_LEFT + (index + 0.1) * bar:.1f}" y="{min(y(value), y(0)):.1f}" '
        f'width="{0.8 * bar:.1f}" height="{abs(y(value) - y(0)):.1f}">'
        f"<title>{text(_name(labels, index))}: {value:.4g}</title></rect>"
        for index, value in enumerate(heights)
        if value is not None
    )
    names = "".join(
        f'<text x="{_LEFT + (index + 0.5) * bar:.1f}" y="{_TOP + HIGHEST_BARS + 14}" text-anchor="middle">'
        f"{text(_name(labels, index))}</text>"
        for index in _labelled(labels, len(heights), bar)
    )
    size = f'width="{_LEFT + wide + 10:.0f}" height="{_TOP + HIGHEST_BARS + _BELOW}"'
    box = f'viewBox="0 0 {_LEFT + wide + 10:.0f} {_TOP + HIGHEST_BARS + _BELOW}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {box} aria-label="{text(alt)}">'
        f"{axis}{bars}{names}</svg>"
    )


def _labelled(labels: Sequence[str], count: int, bar: float) -> Sequence[int]:
    """Return which bars have a label: all if there is room, else the first, the middle and the last."""
    longest = max(len(_name(labels, index)) for index in range(count))
    return range(count) if longest * _LETTER <= bar - 4 else sorted({0, (count - 1) // 2, count - 1})


def _name(labels: Sequence[str], index: int) -> str:
    """Return the label of a bar, or its number, from 1."""
    return labels[index] if index < len(labels) else str(index + 1)


# Two-dimensional numbers as inline SVG: orange is positive, blue negative, a larger number stronger.

WIDEST, TALLEST = 440, 280
"""Pixels of all cells of a grid, at most."""
LARGEST_CELL, SMALLEST_CELL = 20.0, 2.0
MOST_TITLES = 400
"""A grid of more cells has no tooltips: the file would be large, and the cells are too small to point at."""

_LEVELS = 16  # of strength: one path for each keeps the file small
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
    faint = {level: f' fill-opacity="{level / _LEVELS:.2g}"' for level in range(_LEVELS)}
    return "".join(
        f'<path class="{kind}" fill="{LIGHT[kind]}"{faint.get(level, "")} d="{"".join(cells)}"/>'
        for (kind, level), cells in sorted(paths.items(), key=lambda item: item[0][0] != "zero")
    )


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
