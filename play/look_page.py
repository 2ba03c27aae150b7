"""The attention of a model as one HTML file: no script, nothing to load, readable without its pictures."""

from collections.abc import Iterator, Sequence
from html import escape

from autograder.report import DARK, LIGHT, NAME, grid_svg, one_line, render, style
from play.attention import Heads, SentenceAttention, strongest

ABOUT = {
    "translate": "A Transformer, trained here, that translates from English to Hindi.",
    "write": "A language model, trained here, that continues a text.",
}

CELL = 24.0
"""Pixels."""

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


PAGE_STYLE = _STYLE.replace(".X", f".{NAME}.{NAME}.{NAME}")
"""The rules of a page of this activity, to add to those of the kit."""


def page(sentences: Sequence[SentenceAttention], of: str) -> str:
    """Return the page of some sentences; `of` is the activity that trained the model."""
    title = "What every head attends to"
    parts = "".join(part for sentence in sentences for part in _sentence(sentence))
    rules = style() + PAGE_STYLE
    body = (
        f'<main class="{NAME}"><h1>{escape(title)}</h1><p>{escape(ABOUT[of])} Each picture is one head: a row is '
        "a query, a column a key, and the cells of a row sum to 1.</p>"
        '<p class="soft">0<span class="scale" aria-hidden="true"></span>1</p>'
        f"{parts}</main>"
    )
    return render("report/templates/page.html.j2", title=title, style=rules, body=body)


def _sentence(sentence: SentenceAttention) -> Iterator[str]:
    answer = f" → {escape(one_line(sentence.answer))}" if sentence.answer else ""
    yield f"<section><h2>{escape(one_line(sentence.text))}{answer}</h2>"
    for block in sentence.blocks:
        heads = "".join(_head(block, head) for head in range(len(block.weights)))
        yield f'<h3>{escape(block.title)}</h3><p class="soft">Rows: {escape(block.rows)}.</p>'
        yield f'<div class="heads">{heads}</div>{_words(block)}'
    yield "</section>"


def _head(block: Heads, head: int) -> str:
    grid = block.weights[head]
    name = f"{block.title}, head {head + 1}"
    alt = f"{name}: {len(grid)} words attend to {len(grid[0])}; the largest weight of each is in the table below."
    drawing = grid_svg(grid, alt, most=1.0, row_labels=block.queries, column_labels=block.keys, largest_cell=CELL)
    return f"<figure><h4>head {head + 1}</h4>{drawing}</figure>"


def _words(block: Heads) -> str:
    """Return a table of the word that each word attends to most, with a column per head."""
    head = "".join(f'<th scope="col">head {at}</th>' for at in range(1, len(block.weights) + 1))
    rows = "".join(
        f'<tr><th scope="row">{escape(query)}</th>'
        + "".join(_cell(*strongest(block.keys, grid[at])) for grid in block.weights)
        + "</tr>"
        for at, query in enumerate(block.queries)
    )
    return (
        f'<details><summary>In words: {escape(block.title)}</summary><div class="wide" tabindex="0" role="region" '
        f'aria-label="{escape(block.title)} in words"><table class="words"><caption>The word that each word attends to '
        f"most, and the weight</caption><thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody>"
        "</table></div></details>"
    )


def _cell(name: str, share: float) -> str:
    return f"<td>{escape(name)} {share:.2f}</td>"
