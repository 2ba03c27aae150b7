"""`course play look` for a modern model: induction scores once, then the logit lens of each typed text."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from autograder.course import write_atomically
from autograder.play import Stage
from autograder.report import NAME, grid_svg, one_line, render, style
from play.chatter import Chatter
from play.lens import Induction, Lens, describe_induction, describe_lens, induction, look_through
from play.look_page import PAGE_STYLE

LONGEST = 40
"""A longer text has no room in a terminal or on a page."""


def look_into(stage: Stage, chatter: Chatter, file: Path | None) -> dict[str, Any]:
    """Show the induction scores and the logit lens, and write a page with both."""
    stage.print("This is the model of `course play chat`.")
    found = induction(stage, chatter)
    stage.print("Induction score of each head, on a random text that comes twice:", "bold")
    for line in describe_induction(found):
        stage.print(line)
    if not stage.say:
        stage.print("Type a text to see what each layer would say next; an empty line ends.")
    lenses: list[Lens] = []
    for line in stage.inputs("> "):
        tokens = len(chatter.ids(line)) + 1
        if tokens > min(LONGEST, chatter.window):
            stage.print(f"The text has {tokens} tokens, expected at most {min(LONGEST, chatter.window)}.")
            continue
        lenses.append(look_through(stage, chatter, line))
        _show(stage, lenses[-1])
        if file is not None:
            write_atomically(file, page(found, lenses))
            stage.print(f"The page is in {file}.")
    figures = [{"tokens": lens.tokens, "predictions": lens.predictions, "settled": lens.settled} for lens in lenses]
    return {"of": "chat", "induction": found.scores, "even": found.even, "lenses": figures}


def _show(stage: Stage, lens: Lens) -> None:
    """Show a lens as a table on a terminal, else in sentences."""
    if stage.plain or not stage.console.is_terminal:
        for line in describe_lens(lens):
            stage.print(line)
        return
    table = Table(title="The likeliest next token after each layer", title_justify="left")
    for name in ("token", *_columns(lens), "final from"):
        table.add_column(name, overflow="fold")
    for place, token in enumerate(lens.tokens):
        said = [
            Text(stage.spell(row[place]), "bold" if layer >= lens.settled[place] else "dim")
            for layer, row in enumerate(lens.predictions)
        ]
        table.add_row(Text(stage.spell(token)), *said, str(lens.settled[place]))
    stage.console.print(table)


def _columns(lens: Lens) -> list[str]:
    return ["embedding", *(f"layer {at}" for at in range(1, len(lens.predictions)))]


def page(found: Induction, lenses: Sequence[Lens]) -> str:
    """Return an HTML page with the induction scores and the lenses."""
    title = "A look into a modern model"
    parts = "".join(_lens(lens) for lens in lenses)
    body = f'<main class="{NAME}"><h1>{escape(title)}</h1>{_induction(found)}{parts}</main>'
    return render("report/templates/page.html.j2", title=title, style=style() + PAGE_STYLE, body=body)


def _induction(found: Induction) -> str:
    words = "".join(f"<li>{escape(line)}</li>" for line in describe_induction(found))
    heads = [str(head) for head in range(1, len(found.scores[0]) + 1)] if found.scores else []
    layers = [f"layer {at}" for at in range(1, len(found.scores) + 1)]
    grid = (
        grid_svg(
            found.scores, "Induction scores: the list below has all of them.",
            most=1.0, row_labels=layers, column_labels=heads, largest_cell=28.0,
        )
        if found.scores
        else ""
    )  # fmt: skip
    return (
        "<section><h2>Induction score</h2><p>A text of random tokens comes twice. The score of a head is the mean "
        "weight, in the second half, on the token that followed the same token in the first half (Olsson et al. 2022)."
        f'</p>{grid}<ul class="soft">{words}</ul></section>'
    )


def _lens(lens: Lens) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in _columns(lens))
    rows = "".join(
        f'<tr><th scope="row">{escape(one_line(token))}</th>'
        + "".join(_cell(row[place], final=layer >= lens.settled[place]) for layer, row in enumerate(lens.predictions))
        + "</tr>"
        for place, token in enumerate(lens.tokens)
    )
    return (
        f"<section><h2>{escape(one_line(' '.join(lens.tokens)))}</h2><p>Logit lens: the likeliest next token if the "
        "model ended after this layer. Bold from the layer on where it stays the final one.</p>"
        '<div class="wide" tabindex="0" role="region" aria-label="Logit lens"><table class="words">'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table></div></section>"
    )


def _cell(name: str, *, final: bool) -> str:
    word = escape(one_line(name))
    return f"<td>{f'<strong>{word}</strong>' if final else word}</td>"
