"""Numbers in a row as inline SVG: a bar each, from 0 up or down, beside the numbers of the axis."""

from collections.abc import Sequence
from html import escape

from autograder.report.html_style import LIGHT
from autograder.report.printable import one_line

WIDEST, HIGH = 400, 170
"""Pixels of the bars together."""
WIDEST_BAR = 24.0
MARKS = 3
"""So many numbers stand beside the axis, from the lowest to the highest."""

_LEFT, _TOP, _BELOW = 46, 8, 18
_LETTER = 6.4


def bars_svg(heights: Sequence[float | None], alt: str, *, labels: Sequence[str] = ()) -> str:
    """Return the bars; what is no finite number has none. `alt` says them in words, `labels` name them from left."""
    numbers = [each for each in heights if each is not None]
    least, most = min([0.0, *numbers]), max([0.0, *numbers])
    spread = most - least or 1.0
    each = min(WIDEST_BAR, WIDEST / len(heights))
    wide = each * len(heights)

    def y(value: float) -> float:
        return _TOP + HIGH * (least + spread - value) / spread

    marks = "".join(
        f'<path class="axis" stroke="{LIGHT["none"]}" stroke-opacity=".4" d="M{_LEFT} {y(at):.1f}h{wide:.1f}"/>'
        f'<text x="{_LEFT - 6}" y="{y(at) + 4:.1f}" text-anchor="end">{at:.3g}</text>'
        for at in (least + spread * place / (MARKS - 1) for place in range(MARKS))
    )
    drawn = "".join(
        f'<rect class="{"high" if value >= 0 else "low"}" fill="{LIGHT["high" if value >= 0 else "low"]}" '
        f'x="{_LEFT + (place + 0.1) * each:.1f}" y="{min(y(value), y(0)):.1f}" '
        f'width="{0.8 * each:.1f}" height="{abs(y(value) - y(0)):.1f}">'
        f"<title>{_text(_name(labels, place))}: {value:.4g}</title></rect>"
        for place, value in enumerate(heights)
        if value is not None
    )
    places = _named(labels, len(heights), each)
    names = "".join(
        f'<text x="{_LEFT + (place + 0.5) * each:.1f}" y="{_TOP + HIGH + 14}" text-anchor="middle">'
        f"{_text(_name(labels, place))}</text>"
        for place in places
    )
    size = f'width="{_LEFT + wide + 10:.0f}" height="{_TOP + HIGH + _BELOW}"'
    box = f'viewBox="0 0 {_LEFT + wide + 10:.0f} {_TOP + HIGH + _BELOW}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {box} aria-label="{_text(alt)}">'
        f"{marks}{drawn}{names}</svg>"
    )


def _named(labels: Sequence[str], count: int, each: float) -> Sequence[int]:
    """Return which bars are named: all where there is room, else the first, the middle and the last."""
    longest = max(len(_name(labels, place)) for place in range(count))
    return range(count) if longest * _LETTER <= each - 4 else sorted({0, (count - 1) // 2, count - 1})


def _name(labels: Sequence[str], place: int) -> str:
    """Return the label of a bar, or its number, from 1."""
    return labels[place] if place < len(labels) else str(place + 1)


def _text(words: str) -> str:
    return escape(one_line(words))
