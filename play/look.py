"""Show the attention of a trained model: every head of every block, in the terminal and as a page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from autograder.course import UsageError, write_atomically
from autograder.play import CheckpointError, Stage
from autograder.report import NARROWEST, SECONDARY, Page, beside, breadth, full_blocks, glyphs_for, indented, shades
from play import chat, translate, write
from play.attention import Heads, SentenceAttention, describe_head, translator_attention, writer_attention
from play.chatter import Chatter
from play.learning import refusal
from play.look_into import look_into
from play.look_page import page
from play.translate import Translator
from play.writer import Writer

LONGEST = 25
"""With more pieces there is no room for words beside a map."""

CELL = 2
GAP = 3
EVERY = 5
"""The columns that have their number above them."""


def play(stage: Stage) -> dict[str, Any]:
    """Show the attention for each typed sentence, and write a page with all of them. Look into a modern model."""
    model, of = _trained(stage, str(stage.options["of"]))
    if int(stage.options["more"]) < 0:
        raise UsageError(f"--more is {stage.options['more']}, expected 0 or more")
    file = Path(str(stage.options["html"])) if stage.options["html"] else None
    if file is not None and file.is_dir():
        raise UsageError(f"--html {file} is a folder, expected a file")
    if file is not None and not file.absolute().parent.is_dir():
        raise UsageError(f"--html {file}: there is no folder {file.parent}; make it first, or name another")
    if isinstance(model, Chatter):
        return look_into(stage, model, file)
    stage.print(f"This is the model of `course play {of}`.")
    if not stage.say:
        stage.print("Type a sentence in English; an empty line ends.")
    sentences: list[SentenceAttention] = []
    for line in stage.inputs("> "):
        sentence = _attention(stage, model, line)
        if sentence is None:
            continue
        sentences.append(sentence)
        _show(stage, sentence)
        if file is not None:
            write_atomically(file, page(sentences, of))
            stage.print(f"The page is in {file}.")
    return {"of": of, "sentences": [_figures(sentence) for sentence in sentences]}


def _trained(stage: Stage, of: str) -> tuple[Translator | Writer, str]:
    """Return a trained model, and the activity that trained it. Raises `UsageError` if there is none."""
    modules = {"translate": translate, "write": write, "chat": chat}
    activities = {found.id: modules[found.id].load_trained for found in stage.course.play if found.id in modules}
    if of and of not in activities:
        raise UsageError(f"--of is {of}, expected translate, write or chat")
    refused: list[str] = []
    for name in [of] if of else activities:
        try:
            found = activities[name](stage)
        except CheckpointError as error:
            refused.append(refusal(error, name))
        else:
            if found is not None:
                return found, name
    if refused:
        raise UsageError(refused[0])
    first = of or "translate"
    raise UsageError(f"no model is trained yet; run `course play {first}` first")


def _attention(stage: Stage, model: Translator | Writer, line: str) -> SentenceAttention | None:
    """Return the attention for a line. If the model cannot take it, print why and return None."""
    if isinstance(model, Translator):
        words = translate.parse_line(stage, model, line)
        return translator_attention(stage, model, words) if words else None
    more = int(stage.options["more"])
    pieces = len(model.pieces.split(line)) + more + 1
    if pieces > min(LONGEST, model.window):
        most = min(LONGEST, model.window)
        stage.print(f"The text has {pieces} pieces, with the {more} that the model adds; expected at most {most}.")
        return None
    return writer_attention(stage, model, line, more)


def _figures(sentence: SentenceAttention) -> dict[str, Any]:
    blocks = [
        {
            "title": block.title,
            "rows": list(block.queries),
            "columns": list(block.keys),
            "heads": [[[round(value, 4) for value in row] for row in head] for head in block.weights],
        }
        for block in sentence.blocks
    ]
    return {"said": sentence.text, "answer": sentence.answer, "blocks": blocks}


def _show(stage: Stage, sentence: SentenceAttention) -> None:
    """Show the attention as maps on a terminal with room, else in sentences."""
    stage.print(f"{sentence.text} -> {sentence.answer}" if sentence.answer else sentence.text, "bold")
    canvas = Page.on(stage.console, glyphs_for(stage.console.encoding))
    for block in sentence.blocks:
        show_heads(stage, canvas, block, range(len(block.weights)))


def show_heads(stage: Stage, canvas: Page, block: Heads, heads: Sequence[int]) -> None:
    """Show some heads of a block as maps on a terminal with room, else in sentences."""
    widest = max(len(query) for query in block.queries) + CELL * len(block.keys) + 6
    if stage.plain or not stage.console.is_terminal or canvas.width < max(NARROWEST, widest):
        for head in heads:
            stage.print(describe_head(block, head))
    else:
        canvas.show(_maps(canvas, block, heads))


def _maps(canvas: Page, block: Heads, heads: Sequence[int]) -> list[Text]:
    """Return heads of a block side by side, as many as there is room for, with numbered words."""
    numbered = [f"{name} {at:>2}" for at, name in enumerate(block.queries, 1)]
    labels = [Text(), *(canvas.text(label) for label in numbered)]
    edge = breadth(labels)
    for label in labels:
        label.pad_left(edge - label.cell_len)
    lines = [Text(), canvas.text(f"{block.title}", "bold")]
    columns = ", ".join(f"{at} {name}" for at, name in enumerate(block.keys, 1))
    lines += canvas.wrap(canvas.text(f"rows: {block.rows}; columns: {columns}", SECONDARY))
    fitting = max(1, (canvas.width - edge - 2) // (CELL * len(block.keys) + GAP))
    for first in range(0, len(heads), fitting):
        drawn: Sequence[Text] = [canvas.text("head", SECONDARY), *labels]
        drawn[0].pad_left(edge - drawn[0].cell_len)
        for at, head in enumerate(heads[first : first + fitting]):
            drawn = beside(drawn, _map(canvas, block, head), GAP if at else 1)
        lines += [indented(line, 2) for line in drawn]
    return lines


def _map(canvas: Page, block: Heads, head: int) -> list[Text]:
    """Return one head: its number, the numbers of the columns, and a line per row."""
    grid = block.weights[head]
    cells = full_blocks(canvas, grid, 1.0, CELL) if canvas.paints else shades(canvas, grid, CELL)
    marks = (f"{at}" if at == 1 or at % EVERY == 0 else "" for at in range(1, len(block.keys) + 1))
    numbers = "".join(f"{mark:<{CELL}}" for mark in marks)
    return [canvas.text(f"{head + 1}", "bold"), canvas.text(numbers, SECONDARY), *cells]
