"""Numbers in a row as inline SVG: one bar for each, up or down from 0, beside an axis."""

from collections.abc import Sequence

from autograder.report.grids import finite
from autograder.report.html_style import LIGHT
from autograder.report.html_text import text

WIDEST, HIGH = 400, 170
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
    bar = min(WIDEST_BAR, WIDEST / len(heights))
    wide = bar * len(heights)

    def y(value: float) -> float:
        return _TOP + HIGH * (least + spread - value) / spread

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
        f'<text x="{_LEFT + (index + 0.5) * bar:.1f}" y="{_TOP + HIGH + 14}" text-anchor="middle">'
        f"{text(_name(labels, index))}</text>"
        for index in _labelled(labels, len(heights), bar)
    )
    size = f'width="{_LEFT + wide + 10:.0f}" height="{_TOP + HIGH + _BELOW}"'
    box = f'viewBox="0 0 {_LEFT + wide + 10:.0f} {_TOP + HIGH + _BELOW}"'
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
