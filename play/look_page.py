"""What a model looks at as one HTML file: no script, nothing to load, light or dark, readable without its pictures."""

from collections.abc import Iterator, Sequence
from html import escape

from autograder.report.html_grid import grid_svg
from autograder.report.html_page import whole_page
from autograder.report.html_style import DARK, LIGHT, NAME, style
from autograder.report.printable import one_line
from play.attention import Heads, Looked, most

ABOUT = {
    "translate": "A Transformer, trained here, that translates from English to Hindi.",
    "write": "A language model, trained here, that goes on with a text.",
}

CELL = 24.0
"""Pixels, of a cell."""

_STYLE = f"""\
body {{ margin: 0; padding: 1rem max(1rem, calc(50vw - 40rem)); color-scheme: light dark;
  background: {LIGHT["paper"]} }}
@media (prefers-color-scheme: dark) {{ body {{ background: {DARK["paper"]} }} }}
.X {{ max-width: none; border: 0; padding: 0 }}
.X h1 {{ font-size: 1.5rem; line-height: 1.25; margin: .4rem 0 }}
.X h2 {{ font-size: 1.25rem; line-height: 1.3; margin: 2.2rem 0 .3rem; overflow-wrap: anywhere }}
.X h3 {{ font-size: 1rem; margin: 1.4rem 0 .2rem }}
.X h4 {{ font-size: 1rem; font-weight: 400; margin: 0; color: var(--soft) }}
.X .heads {{ display: flex; flex-wrap: wrap; gap: .4rem 2rem; align-items: flex-start }}
.X .heads figure {{ margin: .3rem 0; min-width: 0; max-width: 100% }}
.X .heads svg {{ overflow: visible }}
.X .scale {{ display: inline-block; width: 6em; height: .8em; margin: 0 .4em; vertical-align: baseline;
  background: linear-gradient(90deg, var(--zero), var(--high)) }}
"""


def page(looked: Sequence[Looked], of: str) -> str:
    """Return the page of some sentences; `of` is the activity that trained the model."""
    title = "What every head looks at"
    parts = "".join(part for each in looked for part in _sentence(each))
    rules = style() + _STYLE.replace(".X", f".{NAME}.{NAME}.{NAME}")
    body = (
        f'<main class="{NAME}"><h1>{escape(title)}</h1><p>{escape(ABOUT[of])} Each picture is one head: a row is '
        "a word that looks, a column a word that is looked at, and the cells of a row have 1 in all.</p>"
        '<p class="soft">0<span class="scale" aria-hidden="true"></span>1</p>'
        f"{parts}</main>"
    )
    return whole_page(escape(title), rules, body)


def _sentence(looked: Looked) -> Iterator[str]:
    answer = f" → {escape(one_line(looked.answer))}" if looked.answer else ""
    yield f"<section><h2>{escape(one_line(looked.said))}{answer}</h2>"
    for block in looked.blocks:
        heads = "".join(_head(block, head) for head in range(len(block.weights)))
        yield f'<h3>{escape(block.title)}</h3><p class="soft">Rows: {escape(block.rows)}.</p>'
        yield f'<div class="heads">{heads}</div>{_words(block)}'
    yield "</section>"


def _head(block: Heads, head: int) -> str:
    grid = block.weights[head]
    name = f"{block.title}, head {head + 1}"
    alt = f"{name}: {len(grid)} words look at {len(grid[0])}; what each looks at most is in the table below."
    drawing = grid_svg(grid, alt, most=1.0, row_labels=block.asking, column_labels=block.looked_at, largest_cell=CELL)
    return f"<figure><h4>head {head + 1}</h4>{drawing}</figure>"


def _words(block: Heads) -> str:
    """Return a table of what each word looks at most, a column for each head."""
    head = "".join(f'<th scope="col">head {at}</th>' for at in range(1, len(block.weights) + 1))
    rows = "".join(
        f'<tr><th scope="row">{escape(asking)}</th>'
        + "".join(_cell(*most(block.looked_at, grid[at])) for grid in block.weights)
        + "</tr>"
        for at, asking in enumerate(block.asking)
    )
    return (
        f'<details><summary>In words: {escape(block.title)}</summary><div class="wide" tabindex="0" role="region" '
        f'aria-label="{escape(block.title)} in words"><table class="words"><caption>What each word looks at most, and '
        f"how much of its attention that has</caption><thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody>"
        "</table></div></details>"
    )


def _cell(name: str, share: float) -> str:
    return f"<td>{escape(name)} {share:.2f}</td>"
