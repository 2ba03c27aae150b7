"""What every head of a trained model looks at while it works on one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from autograder.learner.play.stage import Stage
from play.translate import Translator
from play.writer import Writer

READ = "the words as they are read"
WRITTEN = "the words as they are written, each looking for itself"
SHOWN = "the pieces of the text, each looking for the one after it"

START, END = "(start)", "(end)"
"""What <SOS> and <EOS> are called."""

SUMS = 1e-3
"""How far the weights of a word may be from 1 together."""


@dataclass(frozen=True)
class Heads:
    """The attention of one block: `weights[head][row][column]`, each row with 1 in all.

    `asking` are the words that look, `looked_at` those that are looked at. `rows` says what the rows are.
    """

    title: str
    rows: str
    asking: tuple[str, ...]
    looked_at: tuple[str, ...]
    weights: tuple[tuple[tuple[float, ...], ...], ...]


@dataclass(frozen=True)
class Looked:
    """A sentence, what became of it, and all attention on the way."""

    said: str
    answer: str
    blocks: tuple[Heads, ...]


def of_translator(stage: Stage, translator: Translator, words: Sequence[str]) -> Looked:
    """Translate a sentence word by word, then show the model all of it once more, and take down what it looks at."""
    [hindi] = translator.translated([tuple(words)])
    src, tgt = translator.padded(translator.encoded([(tuple(words), tuple(hindi))]))
    model: Any = translator.model
    _run(model, src, tgt[:, :-1])
    source, shown = (START, *words, END), (START, *hindi)
    written = (*hindi, END)
    blocks = [
        _heads(stage, block.attention, f"Encoder, block {at}", READ, source, source)
        for at, block in enumerate(model.encoder.encoder_blocks, 1)
    ]
    for at, block in enumerate(model.decoder.decoder_blocks, 1):
        itself, other = f"Decoder, block {at}, at itself", f"Decoder, block {at}, at the source"
        blocks.append(_heads(stage, block.self_attention, itself, WRITTEN, written, shown))
        blocks.append(_heads(stage, block.cross_attention, other, WRITTEN, written, source))
    return Looked(" ".join(words), " ".join(hindi), tuple(blocks))


def of_writer(stage: Stage, writer: Writer, line: str, more: int) -> Looked:
    """Let a text go on by so many pieces, each the likeliest, then show the model all of it once more."""
    written = writer.continued(line, more, seed=stage.seed, temperature=0.0) if more else ""
    pieces = writer.pieces.cut(f"\n{line}{written}")
    ids = writer.batch([writer.ids(f"\n{line}{written}")])
    _run(writer.model, ids)
    words = tuple(_named(pieces))
    layers: Any = writer.model.layers
    blocks = (_heads(stage, block.attention, f"Block {at}", SHOWN, words, words) for at, block in enumerate(layers, 1))
    return Looked(line, written, tuple(blocks))


def _run(model: nn.Module, *arguments: Tensor) -> None:
    model.eval()
    with torch.no_grad():
        model(*arguments)


def _heads(
    stage: Stage, part: nn.Module, title: str, rows: str, asking: Sequence[str], looked_at: Sequence[str]
) -> Heads:
    """Return the attention of one part, after it was called."""
    found = getattr(part, "attention_weights", None)
    shape = tuple(found.shape) if isinstance(found, Tensor) else None
    expected = (len(asking), len(looked_at))
    if not isinstance(found, Tensor) or found.dim() != 4 or tuple(found.shape[2:]) != expected:
        told = f"attention_weights is {shape} after a call, expected (1, heads, {expected[0]}, {expected[1]})"
        stage.report_fault("ex06_multi_head_attention", told)
        return Heads(title, rows, tuple(asking), tuple(looked_at), ())
    weights = found[0].detach().cpu().double()  # an accelerator may have no float64
    if not bool(((weights.sum(-1) - 1).abs() < SUMS).all()):
        stage.report_fault("ex06_multi_head_attention", f"{title}: the weights of a word do not sum to 1")
    numbers = tuple(tuple(tuple(row) for row in head) for head in weights.tolist())
    return Heads(title, rows, tuple(asking), tuple(looked_at), numbers)


def _named(pieces: Sequence[str]) -> list[str]:
    """Return pieces as they are shown: `-ing` is the end of a word, `/` the end of a line."""
    names = []
    before = " "
    for piece in pieces:
        bare = piece.strip()
        inside = before[-1].isalnum() and piece[0].isalnum()
        names.append(f"-{bare}" if inside else bare or ("/" if piece == "\n" else "_"))
        before = piece
    return names


def most(names: Sequence[str], row: Sequence[float]) -> tuple[str, float]:
    """Return what a word looks at most, and how much of its attention that has."""
    place = max(range(len(row)), key=row.__getitem__)
    return names[place], row[place]


def in_words(block: Heads, head: int) -> str:
    """Return in one sentence what each word looks at most."""
    found = (most(block.looked_at, row) for row in block.weights[head])
    each = [f"{asking} at {name} ({share:.2f})" for asking, (name, share) in zip(block.asking, found, strict=True)]
    return f"{block.title}, head {head + 1}, looks most: {', '.join(each)}."
