"""Show what a trained model looks at: every head of every block, in the terminal and as a page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from autograder.course.names import UsageError
from autograder.course.storage import write_whole
from autograder.learner.play.checkpoint import CheckpointError
from autograder.learner.play.stage import Stage
from autograder.report.glyphs import glyphs_for
from autograder.report.heat import full_blocks, shades
from autograder.report.layout import NARROWEST, SECONDARY, Page, beside, breadth, indented
from play import translate, write
from play.attention import Heads, Looked, in_words, of_translator, of_writer
from play.look_page import page
from play.translate import Translator
from play.writer import Writer

LONGEST = 25
"""With more pieces than that the words would find no room beside a map."""

CELL = 2
GAP = 3
EVERY = 5
"""Every so many columns have their number above them."""


def play(stage: Stage) -> dict[str, Any]:
    """Look at each sentence that is typed, and write the page anew with all of them."""
    model, of = _trained(stage, str(stage.options["of"]))
    if int(stage.options["more"]) < 0:
        raise UsageError(f"--more is {stage.options['more']}, expected 0 or more")
    file = Path(str(stage.options["html"])) if stage.options["html"] else None
    if file is not None and file.is_dir():
        raise UsageError(f"--html {file} is a folder, expected a file")
    if file is not None and not file.absolute().parent.is_dir():
        raise UsageError(f"{file.parent} is no folder; the page needs one that is there")
    stage.print(f"Looking at what `course play {of}` trained.")
    if not stage.say:
        stage.print("Type a sentence in English; an empty line ends.")
    looked: list[Looked] = []
    for line in stage.inputs("> "):
        found = _looked(stage, model, line)
        if found is None:
            continue
        looked.append(found)
        _show(stage, found)
        if file is not None:
            write_whole(file, page(looked, of))
            stage.print(f"The page is in {file}.")
    return {"of": of, "sentences": [_figures(each) for each in looked]}


def _trained(stage: Stage, of: str) -> tuple[Translator | Writer, str]:
    """Return a trained model, and the activity that trained it. Raises `UsageError` where there is none."""
    activities = {"translate": translate.trained, "write": write.trained}
    if of and of not in activities:
        raise UsageError(f"--of is {of}, expected translate or write")
    refused: list[str] = []
    for name in [of] if of else activities:
        try:
            found = activities[name](stage)
        except CheckpointError as error:
            instead = f"say {error.say}, or run" if error.say else "run"
            refused.append(f"{error.found}; {instead} `course play {name} --fresh` first")
        else:
            if found is not None:
                return found, name
    if refused:
        raise UsageError(refused[0])
    first = of or "translate"
    raise UsageError(f"nothing is trained to look at; run `course play {first}` first")


def _looked(stage: Stage, model: Translator | Writer, line: str) -> Looked | None:
    """Return what a model looks at for a line; None, and a sentence, where it cannot be asked."""
    if isinstance(model, Translator):
        words = translate.understood(stage, model, line)
        return of_translator(stage, model, words) if words else None
    more = int(stage.options["more"])
    pieces = len(model.pieces.cut(line)) + more + 1
    if pieces > min(LONGEST, model.window):
        stage.print(
            f"That is {pieces} pieces with those to come; at most {min(LONGEST, model.window)} can be looked at."
        )
        return None
    return of_writer(stage, model, line, more)


def _figures(looked: Looked) -> dict[str, Any]:
    blocks = [
        {
            "title": each.title,
            "rows": list(each.asking),
            "columns": list(each.looked_at),
            "heads": [[[round(value, 4) for value in row] for row in head] for head in each.weights],
        }
        for each in looked.blocks
    ]
    return {"said": looked.said, "answer": looked.answer, "blocks": blocks}


def _show(stage: Stage, looked: Looked) -> None:
    """Show a sentence and all attention: as maps where there is room and a terminal, else in sentences."""
    stage.print(f"{looked.said} -> {looked.answer}" if looked.answer else looked.said, "bold")
    canvas = Page.on(stage.console, glyphs_for(stage.console.encoding))
    for block in looked.blocks:
        widest = max(len(each) for each in block.asking) + CELL * len(block.looked_at) + 6
        if stage.plain or not stage.console.is_terminal or canvas.width < max(NARROWEST, widest):
            for head in range(len(block.weights)):
                stage.print(in_words(block, head))
        else:
            canvas.show(_maps(canvas, block))


def _maps(canvas: Page, block: Heads) -> list[Text]:
    """Return the heads of a block side by side, as many as there is room for; words have numbers."""
    numbered = [f"{name} {at:>2}" for at, name in enumerate(block.asking, 1)]
    labels = [Text(), *(canvas.text(each) for each in numbered)]
    edge = breadth(labels)
    for each in labels:
        each.pad_left(edge - each.cell_len)
    lines = [Text(), canvas.text(f"{block.title}", "bold")]
    columns = ", ".join(f"{at} {name}" for at, name in enumerate(block.looked_at, 1))
    lines += canvas.wrap(canvas.text(f"rows: {block.rows}; columns: {columns}", SECONDARY))
    fitting = max(1, (canvas.width - edge - 2) // (CELL * len(block.looked_at) + GAP))
    for first in range(0, len(block.weights), fitting):
        drawn: Sequence[Text] = [canvas.text("head", SECONDARY), *labels]
        drawn[0].pad_left(edge - drawn[0].cell_len)
        for head in range(first, min(first + fitting, len(block.weights))):
            drawn = beside(drawn, _map(canvas, block, head), GAP if head > first else 1)
        lines += [indented(each, 2) for each in drawn]
    return lines


def _map(canvas: Page, block: Heads, head: int) -> list[Text]:
    """Return one head: its number, the numbers of the columns, and a row a line."""
    grid = block.weights[head]
    cells = full_blocks(canvas, grid, 1.0, CELL) if canvas.paints else shades(canvas, grid, CELL)
    shown = (f"{at}" if at == 1 or at % EVERY == 0 else "" for at in range(1, len(block.looked_at) + 1))
    numbers = "".join(f"{each:<{CELL}}" for each in shown)
    return [canvas.text(f"{head + 1}", "bold"), canvas.text(numbers, SECONDARY), *cells]
