"""The attention of every head of a trained model for one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from autograder.play import Stage
from play.translate import Translator
from play.writer import Writer

READ = "the words of the source"
WRITTEN = "the words of the translation, each while the model predicts it"
SHOWN = "the pieces of the text, each while the model predicts the next one"

START, END = "(start)", "(end)"
"""The names of <SOS> and <EOS>."""

SUMS = 1e-3
"""How far the sum of the weights of a word may be from 1."""


@dataclass(frozen=True)
class Heads:
    """The attention of one block: `weights[head][row][column]`, where each row sums to 1.

    The rows are `queries`, the columns `keys`. `rows` describes the rows.
    """

    title: str
    rows: str
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    weights: tuple[tuple[tuple[float, ...], ...], ...]


@dataclass(frozen=True)
class SentenceAttention:
    """A sentence, what the model made of it, and the attention of every block."""

    text: str
    answer: str
    blocks: tuple[Heads, ...]


def translator_attention(stage: Stage, translator: Translator, words: Sequence[str]) -> SentenceAttention:
    """Translate a sentence, then run the model on the whole pair once more, and return its attention."""
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
        itself, other = f"Decoder, block {at}, self-attention", f"Decoder, block {at}, cross-attention"
        blocks.append(_heads(stage, block.self_attention, itself, WRITTEN, written, shown))
        blocks.append(_heads(stage, block.cross_attention, other, WRITTEN, written, source))
    return SentenceAttention(" ".join(words), " ".join(hindi), tuple(blocks))


def writer_attention(stage: Stage, writer: Writer, line: str, more: int) -> SentenceAttention:
    """Continue a text greedily by so many pieces, then run the model on all of it, and return its attention."""
    written = writer.continued(line, more, seed=stage.seed, temperature=0.0) if more else ""
    pieces = writer.pieces.split(f"\n{line}{written}")
    ids = writer.batch([writer.ids(f"\n{line}{written}")])
    _run(writer.model, ids)
    words = tuple(_labels(pieces))
    layers: Any = writer.model.layers
    blocks = (_heads(stage, block.attention, f"Block {at}", SHOWN, words, words) for at, block in enumerate(layers, 1))
    return SentenceAttention(line, written, tuple(blocks))


def _run(model: nn.Module, *arguments: Tensor) -> None:
    model.eval()
    with torch.no_grad():
        model(*arguments)


def _heads(stage: Stage, part: nn.Module, title: str, rows: str, queries: Sequence[str], keys: Sequence[str]) -> Heads:
    """Return the attention of one part, after it was called."""
    kept = getattr(part, "attention_weights", None)
    shape = tuple(kept.shape) if isinstance(kept, Tensor) else None
    expected = (len(queries), len(keys))
    if not isinstance(kept, Tensor) or kept.dim() != 4 or tuple(kept.shape[2:]) != expected:
        message = f"attention_weights is {shape} after a call, expected (1, heads, {expected[0]}, {expected[1]})"
        stage.report_fault("ex06_multi_head_attention", message)
        return Heads(title, rows, tuple(queries), tuple(keys), ())
    weights = kept[0].detach().cpu().double()  # an accelerator may have no float64
    if not bool(((weights.sum(-1) - 1).abs() < SUMS).all()):
        stage.report_fault("ex06_multi_head_attention", f"{title}: the weights of a word do not sum to 1")
    numbers = tuple(tuple(tuple(row) for row in head) for head in weights.tolist())
    return Heads(title, rows, tuple(queries), tuple(keys), numbers)


def _labels(pieces: Sequence[str]) -> list[str]:
    """Return labels of pieces: `-ing` is the end of a word, `/` the end of a line."""
    names = []
    before = " "
    for piece in pieces:
        bare = piece.strip()
        inside = before[-1].isalnum() and piece[0].isalnum()
        names.append(f"-{bare}" if inside else bare or ("/" if piece == "\n" else "_"))
        before = piece
    return names


def strongest(names: Sequence[str], row: Sequence[float]) -> tuple[str, float]:
    """Return the word with the largest weight in a row, and that weight."""
    place = max(range(len(row)), key=row.__getitem__)
    return names[place], row[place]


def describe_head(block: Heads, head: int) -> str:
    """Return in one sentence which word each word attends to most."""
    rows = zip(block.queries, block.weights[head], strict=True)
    most = ((query, *strongest(block.keys, row)) for query, row in rows)
    parts = ", ".join(f"{query} to {key} ({weight:.2f})" for query, key, weight in most)
    return f"{block.title}, head {head + 1}, attends most: {parts}."
