"""The cards that a notebook shows: one HTML element each, without script or network, readable without style too."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from textwrap import dedent

from autograder.results import NOT_JUDGED, CheckResult, ExerciseResult, Picture

from .escaping import one_line, printable
from .failures import (
    LEGEND,
    MOST_LINES,
    Command,
    Comparison,
    FailureView,
    Location,
    MapPair,
    PrintPart,
    SourceLine,
    TodoItem,
    Witnesses,
    count_of,
    failure_view,
    fitting_parts,
    have_run,
    print_parts,
    todo_view,
)
from .pictures import MOST_PICTURES, Grid, finite, greatest, in_words, is_whole, legend, strength
from .states import achieved, bonus_left, check_state, number, points_of, reference_parts, spoken, state_of
from .why import WhyPage

# The frame of every HTML page: one file, for a phone and a wide window, without any network.

POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'"
"""A page may load nothing and send nothing, whatever is in it."""

OWN_STYLE = "style-src 'unsafe-inline'"
"""A page without a script may use the style that it contains, and that of its pictures."""


def whole_page(title: str, style: str, body: str, allowed: str = OWN_STYLE) -> str:
    """Return a page of these parts, which are safe HTML already; `allowed` is what its policy lets in."""
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}; {allowed}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


# The style of all HTML pages: colours, cards, and their themes in JupyterLab, VS Code, Colab and the system.
#
# Every text has a contrast of 4.5 or more on its ground, in both themes.

LIGHT = {
    "ink": "#1c1e22",
    "soft": "#5a5f69",
    "paper": "#ffffff",
    "line": "#d5d8dd",
    "code": "#f0f0ec",
    "good": "#176f2c",
    "bad": "#b00020",
    "warn": "#8a5a00",
    "key": "#00606f",
    "high": "#d55e00",
    "low": "#0072b2",
    "zero": "#efefeb",
    "none": "#8a8a8a",
}
DARK = {
    "ink": "#dee0e4",
    "soft": "#9a9fa9",
    "paper": "#17191f",
    "line": "#3a3f48",
    "code": "#23272e",
    "good": "#7ccf7c",
    "bad": "#ff6b6b",
    "warn": "#e5c07b",
    "key": "#4ec9d8",
    "high": "#ff8c3a",
    "low": "#4aa8ff",
    "zero": "#252a31",
    "none": "#6b7078",
}

NAME = "course-card"

_IN_LIGHT = ('[data-jp-theme-light="true"]', ".vscode-light", 'html[theme="light"]')
_IN_DARK = ('[data-jp-theme-light="false"]', ".vscode-dark", ".vscode-high-contrast", 'html[theme="dark"]')

_RULES = """\
.X { box-sizing: border-box; max-width: 60rem; margin: 4px 0; padding: .8rem 1.2rem .9rem; color: var(--ink);
  background: var(--paper); border: 1px solid var(--line); border-left: 5px solid var(--state, var(--line));
  border-radius: 4px; font: 14px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif }
.X.pass { --state: var(--good) }
.X.fail { --state: var(--bad) }
.X.problem { --state: var(--warn) }
.X p { margin: .45rem 0; color: inherit }
.X .top { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0 1.5rem }
.X .title { font-size: 1.15em; font-weight: 600 }
.X .state { color: var(--state, var(--soft)); margin-right: .35em }
.X .soft, .X .waiting, .X figcaption, .X caption, .X th { color: var(--soft) }
.X ul.checks { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; list-style: none; margin: .35rem 0 .7rem; padding: 0 }
.X .checks li { margin: 0; padding: 0 }
.X .checks b { font-weight: 400 }
.X .passed b { color: var(--good) }
.X .failed b { color: var(--bad) }
.X .problem b { color: var(--warn) }
.X .checks .first { font-weight: 600; color: var(--bad) }
.X figure { margin: .7rem 0; padding: 0 }
.X .place { background: var(--code); border-radius: 4px; padding: .5rem .8rem; overflow-x: auto }
.X pre, .X code { font: 13px/1.6 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; margin: 0; padding: 0;
  background: none; color: inherit; border: 0 }
.X pre { white-space: pre; word-break: normal; overflow-x: auto }
.X pre i { font-style: normal; color: var(--soft); user-select: none }
.X .agrees i { color: var(--good) }
.X .wrong { font-weight: 600 }
.X u { color: var(--bad); text-decoration: underline wavy var(--bad); text-underline-offset: 3px }
.X em { font-style: normal; font-weight: 600; color: var(--bad) }
.X .shown { display: flex; flex-wrap: wrap; gap: .6rem 2.2rem; align-items: flex-start }
.X .shown figure { margin: .3rem 0 }
.X svg { display: block; max-width: 100%; height: auto }
.X svg text { font: 11px system-ui, "DejaVu Sans", sans-serif; fill: var(--soft) }
.X .zero { fill: var(--zero) }
.X .high { fill: var(--high) }
.X .low { fill: var(--low) }
.X .none { fill: var(--none) }
.X .differs { stroke: var(--bad); stroke-width: 1.6; fill: none }
.X .wide { overflow-x: auto }
.X table { border-collapse: collapse; border: 0; margin: .4rem 0; font-size: 13px; color: inherit;
  font-variant-numeric: tabular-nums; width: auto; table-layout: auto }
.X caption { text-align: left; padding: 0; caption-side: top }
.X tr:nth-child(n), .X tr:hover { background: none }
.X thead { border: 0 }
.X th, .X td { border: 0; background: none; padding: .1rem 1.1rem .1rem 0; text-align: right; font-weight: 400;
  white-space: nowrap; vertical-align: baseline; max-width: none }
.X th[scope=row], .X .words td, .X .words th { text-align: left; color: inherit }
.X .words thead th { color: var(--soft) }
.X .tells { font-weight: 600 }
.X details { margin: .35rem 0 }
.X summary { color: var(--key); font-weight: 600; cursor: pointer }
.X .next code, .X p code { color: var(--key) }
.X .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
@media print { .X { break-inside: avoid } }
"""


def page_themes() -> str:
    """Return the colours of a page that follows the theme of the system; paper is light."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {_colors(DARK)} }} }}"
    return f":root {{ color-scheme: light; {_colors(LIGHT)} }}\n{dark}"


def style() -> str:
    """Return the style sheet of the cards; it changes nothing outside them."""
    themes = [
        f".X {{ color-scheme: light; {_colors(LIGHT)} }}",
        f"@media (prefers-color-scheme: dark) {{ .X {{ color-scheme: dark; {_colors(DARK)} }} }}",
        f"{', '.join(f'{theme} .X' for theme in _IN_LIGHT)} {{ color-scheme: light; {_colors(LIGHT)} }}",
        f"{', '.join(f'{theme} .X' for theme in _IN_DARK)} {{ color-scheme: dark; {_colors(DARK)} }}",
        f"@media print {{ .X.X.X.X {{ color-scheme: light; {_colors(LIGHT)} }} }}",
    ]
    strong = _RULES.replace(".X", f".{NAME}.{NAME}.{NAME}")  # stronger than the rules of the host for tables and code
    return "\n".join(themes).replace(".X", f".{NAME}") + f"\n{strong}"


def _colors(theme: dict[str, str]) -> str:
    return "; ".join(f"--{name}: {color}" for name, color in theme.items())


# Words, code and tables as safe HTML.

_LONGEST_LINE = 500  # longer than any page is wide


def text(words: str) -> str:
    """Return any words on one line, safe inside HTML."""
    return escape(one_line(words))


def code(line: str) -> str:
    """Return a piece of code unchanged, safe inside HTML."""
    return escape(printable(line[:_LONGEST_LINE]).replace("\n", " "))


def table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "", words: str = "") -> str:
    """Return a table of cells that are safe HTML already; the first of each row names it."""
    titled = f"<caption>{caption}</caption>" if caption else ""
    heads = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>'
        for first, *others in rows
    )
    named = f' class="{words}"' if words else ""
    focus = "" if words else ' tabindex="0"'  # so that a keyboard can scroll a table that is too wide
    whole = f"<table{named}>{titled}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide"{focus}>{whole}</div>'


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


# A failure as HTML, from its view.

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


SIGNS = {"passed": "✓", "failed": "✗", "waiting": "·", "problem": "!"}
_KINDS = {"passed": "pass", "failed": "fail", "waiting": "wait", "problem": "problem"}
_SPOKEN = {"passed": "passes: ", "failed": "fails: ", "waiting": "waits: ", "problem": "could not be checked: "}


def exercise_card(
    exercise: ExerciseResult,
    *,
    hints_shown: int = 1,
    attempt: int | None = None,
    unused_hints: Sequence[str] = (),
    notes: Sequence[str] = (),
    next_commands: Sequence[Command] = (),
    styled: bool = True,
) -> str:
    """Return the card of one exercise: what was achieved if it passes, else its first failure.

    `notes` are sentences about what was checked. A page that contains the style wants cards that are not `styled`. The
    other arguments are those of `render_exercise`.
    """
    state = state_of(exercise)
    passes = exercise.status == "pass"
    beside = achieved(exercise, attempt) if passes else _count(exercise)
    parts = _passing(exercise, unused_hints) if passes else _failing(exercise, hints_shown)
    return _card(
        _KINDS[state.mark],
        _top(f"{SIGNS[state.mark]} {state.word}", f"{number(exercise.id)} {exercise.title}", beside),
        [*parts, *(f'<p class="soft">{text(note)}</p>' for note in notes), *_next(next_commands)],
        styled,
    )


def why_card(page: WhyPage, next_commands: Sequence[Command] = ()) -> str:
    """Return the page of a misconception as a card."""
    labelled = (("Why it tempts", page.tempting), ("A question", page.hint), ("Lesson", page.lesson))
    parts = [f"<p>{text(page.explanation)}</p>"]
    parts += [
        _code_block(head, lines) for head, lines in (("✗ your line", page.wrong), ("✓ right", page.right)) if lines
    ]
    parts += [f"<p><strong>{head}</strong> {text(words)}</p>" for head, words in labelled if words.strip()]
    experiment = page.experiment.strip("\n").split("\n")
    if len(experiment) > 1:
        parts.append(_code_block("To see it", experiment))
    elif page.experiment.strip():
        parts.append(f"<p><strong>To see it</strong> {text(page.experiment)}</p>")
    return _card("wait", _top("", f"Misconception: {page.name}", page.exercise), [*parts, *_next(next_commands)])


def note_card(
    title: str, sentences: Sequence[str], *, kind: str = "wait", next_commands: Sequence[Command] = ()
) -> str:
    """Return a card with a title and some sentences; `kind` is pass, fail, problem or wait."""
    parts = (f"<p>{text(sentence)}</p>" for sentence in sentences)
    return _card(kind, _top("", title, ""), [*parts, *_next(next_commands)])


def hint_card(title: str, hints: Sequence[str], everything: int, notes: Sequence[str] = ()) -> str:
    """Return the hints given so far as a card, the last one open."""
    parts = [
        f"<details{' open' if level == len(hints) else ''}><summary>Hint {level} of {everything}</summary>"
        f"{text(hint)}</details>"
        for level, hint in enumerate(hints, 1)
    ]
    return _card("wait", _top("", title, ""), [*parts, *(f'<p class="soft">{text(note)}</p>' for note in notes)])


def table_card(
    title: str, beside: str, head: Sequence[str], rows: Sequence[Sequence[str]], below: Sequence[str]
) -> str:
    """Return a card of a table whose cells are words."""
    cells = [[text(cell) for cell in row] for row in rows]
    sentences = (f"<p>{text(sentence)}</p>" for sentence in below)
    parts = [table([text(cell) for cell in head], cells, words="words"), *sentences]
    return _card("wait", _top("", title, beside), parts)


def _card(kind: str, top: str, parts: Iterable[str], styled: bool = True) -> str:
    look = f"<style>{style()}</style>" if styled else ""
    return f'<div class="{NAME} {kind}">{look}{top}{"".join(parts)}</div>'


def _top(state: str, title: str, beside: str) -> str:
    word = f'<span class="state">{text(state)}</span>' if state else ""
    aside = f'<span class="soft">{text(beside)}</span>' if beside else ""
    head = f'<span class="title" role="heading" aria-level="3">{word} {text(title)}</span>'
    return f'<div class="top">{head} {aside}</div>'


def _count(exercise: ExerciseResult) -> str:
    if exercise.status in NOT_JUDGED:
        return ""  # an exercise that was not judged has no score, not zero
    return ", ".join(filter(None, (count_of(exercise), points_of(exercise.score, exercise.max_score))))


def _failing(exercise: ExerciseResult, hints_shown: int) -> Iterator[str]:
    first, todos = exercise.first_failure, todo_view(exercise)
    if exercise.status != "not_started" and have_run(exercise):
        yield f'<ul class="checks">{"".join(_check(check, check is first) for check in exercise.checks)}</ul>'
    if todos is not None and todos.items:
        yield f'<ul class="checks">{"".join(map(_todo, todos.items))}</ul>'
    if sentence := reference_parts(exercise):
        yield f'<p class="soft">{text(sentence)}</p>'
    if first is None:
        yield f"<p>{text(state_of(exercise).meaning)}</p>"
    else:
        view = failure_view(first, prints=exercise.prints, hints_shown=hints_shown, todos=todos)
        yield from failure_parts(view)


def _check(check: CheckResult, first: bool) -> str:
    mark = check_state(check).mark
    sign = f'<b aria-hidden="true">{SIGNS[mark]}</b><span class="unseen">{_SPOKEN[mark]}</span>'
    name = f'<span class="first">{text(spoken(check.id))}</span>' if first else text(spoken(check.id))
    return f'<li class="{mark}" title="{text(check.title)}">{sign} {name}</li>'


def _todo(item: TodoItem) -> str:
    sign = f'<b aria-hidden="true">{SIGNS[item.mark]}</b>'
    spoken_mark = f'<span class="unseen">{_SPOKEN[item.mark] if item.mark != "waiting" else ""}</span>'
    return f'<li class="{item.mark}">{sign}{spoken_mark} {text(item.text)}</li>'


def _passing(exercise: ExerciseResult, unused_hints: Sequence[str]) -> Iterator[str]:
    if exercise.built:
        yield f"<p><strong>{text(exercise.built)}</strong></p>"
    if sentence := reference_parts(exercise):
        yield f'<p class="soft">{text(sentence)}</p>'
    yield from (f'<p class="soft">Still open: {text(check)}</p>' for check in bonus_left(exercise))
    yield from prints_html(print_parts(exercise.prints))
    pictures = [_picture(picture) for picture in exercise.pictures[:MOST_PICTURES] if is_whole(picture)]
    if pictures:
        yield f'<div class="shown">{"".join(pictures)}</div>'
    if unused_hints:
        hints = "".join(f"<p>{text(hint)}</p>" for hint in unused_hints)
        yield f"<details><summary>Hints you did not need</summary>{hints}</details>"


def _picture(picture: Picture) -> str:
    alt, names = in_words(picture), (("rows", picture.rows), ("columns", picture.columns))
    if picture.bars:
        drawing = bars_svg(picture.values[0], alt, labels=picture.column_labels)
        names = (("height", picture.rows), ("bars", picture.columns))
    else:
        drawing = grid_svg(picture.values, alt, row_labels=picture.row_labels, column_labels=picture.column_labels)
    axes = ", ".join(f"{word}: {text(name)}" for word, name in names if name)
    return (
        f"<figure><figcaption><strong>{text(picture.title)}</strong></figcaption>{drawing}"
        f"<figcaption>{axes}</figcaption></figure>"
    )


def _code_block(head: str, lines: Sequence[str]) -> str:
    block = dedent("\n".join(lines)).split("\n")
    return (
        f'<figure class="place"><figcaption>{text(head)}</figcaption>'
        f"<pre>{chr(10).join(map(code, block))}</pre></figure>"
    )


def _next(commands: Sequence[Command]) -> list[str]:
    if not commands:
        return []
    items = "; ".join(f"<code>{text(command)}</code> {text(effect)}".strip() for command, effect in commands)
    return [f'<p class="next">Next: {items}</p>']
