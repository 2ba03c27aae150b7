"""Two looks into a modern model: what it would say after each layer, and which heads look for repeats."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from autograder.play import Stage
from play.chatter import Chatter

LENS_SAME = 1e-3
"""How far the last row of the lens may be from the logits of the model."""

REPEATED = 48
"""The random tokens of the induction text, which holds them twice."""

TEXTS = 8
"""The texts that the induction score is the mean of."""


@dataclass(frozen=True)
class Lens:
    """The likeliest next token at each place, after the embedding and after each layer.

    `settled` has the layer from which on the token is the final one, for each place.
    """

    tokens: tuple[str, ...]
    predictions: tuple[tuple[str, ...], ...]
    settled: tuple[int, ...]


@dataclass(frozen=True)
class Induction:
    """The induction score of every head, `scores[layer][head]`, and that of looking evenly."""

    scores: tuple[tuple[float, ...], ...]
    even: float


@contextmanager
def _outputs(model: Any) -> Iterator[list[Tensor]]:
    """Yield a list that gets the input of the first layer and the output of every layer while the model runs."""
    seen: list[Tensor] = []

    def before(_: Any, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        seen.append(next(iter([*inputs, *named.values()])).detach())

    def after(_: Any, __: Any, output: Tensor) -> None:
        seen.append(output.detach())

    hooks = [model.layers[0].register_forward_pre_hook(before, with_kwargs=True)] if len(model.layers) else []
    hooks += [layer.register_forward_hook(after) for layer in model.layers]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def look_through(stage: Stage, chatter: Chatter, text: str) -> Lens:
    """Return the logit lens of a text (nostalgebraist 2020): the head reads the norm of every layer's output."""
    model: Any = chatter.model
    ids = chatter.batch([[chatter.end, *chatter.ids(text)][: chatter.window]])
    model.eval()
    with torch.no_grad(), _outputs(model) as seen:
        logits = model(ids)
        rows = [model.lm_head(model.ln_final(x)) for x in seen]
    if not rows or not float((rows[-1] - logits).abs().max()) <= LENS_SAME:
        message = "lm_head(ln_final(x)) of the last layer's output differs from the logits of the model"
        stage.report_fault("ex22_modern_model", message)
    best = torch.stack([row[0].argmax(-1) for row in rows]).cpu()  # (layers + 1, T)
    settled = [_settled(best[:, place].tolist()) for place in range(best.size(1))]
    names = [[_name(chatter, id_) for id_ in row] for row in best.tolist()]
    return Lens(
        tuple(_name(chatter, id_) for id_ in ids[0].tolist()), tuple(tuple(row) for row in names), tuple(settled)
    )


def _settled(column: Sequence[int]) -> int:
    """Return the first row from which on all entries are the last one."""
    at = len(column) - 1
    while at and column[at - 1] == column[-1]:
        at -= 1
    return at


def _name(chatter: Chatter, id_: int) -> str:
    """Return a token as a word to show: `_` is a space, `/` the end of a line."""
    if id_ == chatter.end:
        return "(end)"
    return chatter.text([id_]).replace(" ", "_").replace("\n", "/") or "?"


def induction(stage: Stage, chatter: Chatter) -> Induction:
    """Return the induction score of every head (Olsson et al. 2022).

    A text has `n` random tokens twice over. The score is the mean weight from place `i` of the second half to place
    `i - n + 1`: the token that followed last time. An even head would give each place `1 / (i + 1)`.
    """
    model: Any = chatter.model
    n = min(REPEATED, chatter.window // 2)
    draw = torch.Generator().manual_seed(stage.seed)
    half = torch.randint(1, len(chatter.vocabulary) - 1, (TEXTS, n), generator=draw)
    ids = torch.cat([half, half], dim=1).to(stage.device)
    model.eval()
    with torch.no_grad():
        model(ids)
    rows = torch.arange(n, 2 * n)
    scores = []
    for at, layer in enumerate(model.layers):
        weights = getattr(layer.attn, "attention_weights", None)
        shape = tuple(weights.shape) if isinstance(weights, Tensor) else None
        if (
            not isinstance(weights, Tensor)
            or len(weights.shape) != 4
            or shape != (TEXTS, weights.size(1), 2 * n, 2 * n)
        ):
            message = f"attention_weights is {shape} after a call, expected ({TEXTS}, heads, {2 * n}, {2 * n})"
            stage.report_fault("ex19_grouped_query_attention", f"layer {at + 1}: {message}")
            continue
        scores.append(tuple(weights.cpu()[:, :, rows, rows - n + 1].mean(dim=(0, 2)).tolist()))
    return Induction(tuple(scores), float((1 / (rows + 1)).mean()))


def describe_lens(lens: Lens) -> Iterator[str]:
    """Yield a line for each place: what the model would say after each layer, and from where on it stays."""
    for place, token in enumerate(lens.tokens):
        said = ", ".join(row[place] for row in lens.predictions)
        yield f"after {token}: {said}; final from layer {lens.settled[place]} on."


def describe_induction(found: Induction) -> Iterator[str]:
    """Yield a line for each layer, then the best head."""
    for at, layer in enumerate(found.scores, 1):
        yield f"layer {at}: " + ", ".join(f"head {head} {score:.3f}" for head, score in enumerate(layer, 1))
    yield f"A head that looks evenly has {found.even:.3f}."
    ranked = [(score, at, head) for at, layer in enumerate(found.scores, 1) for head, score in enumerate(layer, 1)]
    if ranked:
        score, at, head = max(ranked)
        yield f"Highest: layer {at}, head {head}, {score / found.even:.1f} times as much as looking evenly."
