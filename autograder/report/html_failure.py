"""A failure as HTML, from its view."""

from collections.abc import Iterator, Sequence

from autograder.report.comparison import Comparison, MapPair, Witnesses
from autograder.report.failure_view import FailureView
from autograder.report.grids import Grid, finite, legend
from autograder.report.html_grid import grid_svg
from autograder.report.html_text import code as code
from autograder.report.html_text import table as table
from autograder.report.html_text import text as text
from autograder.report.location import LEGEND, Location, SourceLine
from autograder.report.prints import MOST_LINES, PrintPart, fitting_parts

_EXPLANATION_LINES = 8


def failure_parts(view: FailureView) -> Iterator[str]:
    """Yield the parts of a failure, without the next commands, which end the card."""
    yield f"<p><strong>{text(view.opening)}</strong> {text(view.more)}</p>"
    if view.explanation:
        yield f"<p>{'<br>'.join(map(text, view.explanation[:_EXPLANATION_LINES]))}</p>"
    if view.claim:
        yield f'<p class="soft">Check: {text(view.claim)}</p>'
    if view.location is not None:
        yield _location(view.location)
    if view.values is not None:
        rows = [(text(name), f"<code>{text(value)}</code>") for name, value in view.values.rows]
        yield table((text(view.values.title), "value"), rows, words="words")
    if view.comparison is not None:
        yield _comparison(view.comparison)
    elements = [*(_maps(view.maps) if view.maps else ()), *([_elements(view.witnesses)] if view.witnesses else [])]
    if elements:
        yield f'<div class="shown">{"".join(elements)}</div>'
    yield from prints_html(view.prints)
    for label, hint in view.hints:
        is_open = " open" if hint is view.hints[-1][1] else ""
        yield f"<details{is_open}><summary>{label}</summary>{text(hint)}</details>"


def prints_html(parts: Sequence[PrintPart]) -> Iterator[str]:
    """Yield what the code printed, as much as fits, and the rest where a click shows it."""
    shown, others = fitting_parts(parts, MOST_LINES)
    yield from map(_print_html, shown)
    if others:
        rest = "".join(map(_print_html, parts[len(shown) :]))
        yield f"<details><summary>What it printed in other trials</summary>{rest}</details>"


def _print_html(part: PrintPart) -> str:
    lines = "\n".join(map(code, part.lines))
    return f'<figure class="place"><figcaption>{text(part.label)}</figcaption><pre>{lines}</pre></figure>'


def _location(location: Location) -> str:
    caption = ", ".join(filter(None, (location.file, location.line, location.description)))
    digits = max((len(str(line.number)) for line in location.source), default=0)
    lines = "".join(_line(line, location.label, digits) for line in location.source)
    agrees = f'<span class="soft">✓ {LEGEND}</span>' if location.agreeing else ""
    source = f"<pre>{lines}</pre>{agrees}" if lines else ""
    return f'<figure class="place"><figcaption>{text(caption)}</figcaption>{source}</figure>'


def _line(line: SourceLine, label: str, digits: int) -> str:
    mark = "▸" if line.is_wrong else "✓" if line.agrees else " "
    kind = "wrong" if line.is_wrong else "agrees" if line.agrees else ""
    shown = code(line.text)
    if line.marked:
        before, after = line.text[: line.start], line.text[line.end :]
        shown = f"{code(before)}<u>{code(line.marked)}</u>{code(after)}"
    words = f"   <em>{text(label)}</em>" if label and line.is_wrong else ""
    return f'<span class="{kind}"><i>{mark} {line.number:>{digits}}  </i>{shown}{words}\n</span>'


def _comparison(comparison: Comparison) -> str:
    """Return expected above yours; what is the same is said in words."""
    last = len(comparison.rows) - 1
    head = [text(comparison.name), *(text(label) for label, _, _ in comparison.rows)]
    expected = ["expected", *(text(value) for _, value, _ in comparison.rows)]
    yours = ["yours"]
    for index, (_, one, other) in enumerate(comparison.rows):
        telling = index == last or index < 2  # shape and dtype come first, the most telling measurement last
        wrong = f"<em>{text(other)}</em>" if telling else text(other)
        yours.append("same" if one == other else wrong)
    return table(head, [expected, yours])


def _maps(maps: MapPair) -> Iterator[str]:
    """Yield expected and yours on one scale, with crosses on the elements to look at."""
    rows, columns = maps.size
    words = "yours is not 0, expected 0" if maps.leaks else "yours differs"
    colors = f"one scale: {', '.join(legend((maps.expected, maps.yours))) or 'all 0'}"
    for name, grid, crosses in (("expected", maps.expected, ()), ("yours", maps.yours, maps.marked)):
        alt = f"{name}, {rows} rows and {columns} columns, {maps.caption}; {_range(grid)}"
        beside = f" (× : {words})" if crosses else ""
        drawing = grid_svg(grid, alt, most=maps.largest, marked=crosses)
        below = f'<br><span class="soft">{text(maps.caption)}</span>' if name == "expected" else f"<br>{colors}"
        yield f"<figure>{drawing}<figcaption>{name}{beside}{below}</figcaption></figure>"


def _range(grid: Grid) -> str:
    numbers = list(finite(grid))
    return f"values from {min(numbers):.3g} to {max(numbers):.3g}" if numbers else "no finite value"


def _elements(witnesses: Witnesses) -> str:
    head = [text(witnesses.axes), "expected", "yours", *([witnesses.gap] if witnesses.gaps else [])]
    if witnesses.gaps:
        rows = [
            [text(at), text(expected), text(yours), f"<em>{text(gap)}</em>"]
            for (at, expected, yours), gap in zip(witnesses.rows, witnesses.gaps, strict=True)
        ]
    else:
        rows = [[text(at), text(expected), f"<em>{text(yours)}</em>"] for at, expected, yours in witnesses.rows]
    return table(head, rows, caption=text(witnesses.title))
