"""What has to hold before a long training is worth its time. What fails names the exercise to go back to."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from autograder.learner.play.stage import Stage
from play.learning import adam

NEAR = 0.2
"""How far the loss of an untrained model may be from the logarithm of the vocabulary, as a share of it."""

STEPS, RATE, LEARNED = 300, 3e-3, 0.1
"""So many steps on one batch, at this rate, have to bring the loss below this; most models need far fewer."""

SAME = 1e-4
"""Two logits that differ by more are not the same."""


def sane(stage: Stage, model: nn.Module, src: Tensor, tgt: Tensor, words: int) -> None:
    """Look at an untrained encoder-decoder and one batch, src (B, S) and tgt (B, T), padded on the right with 0.

    `words` is the size of the target vocabulary. The batch is learned by heart, so hand over a model that is not
    needed any more. The first thing that does not hold goes to `stage.report_fault`; the rest may only follow from it.
    """
    known = len(stage.faults)
    looks: tuple[Callable[[], None], ...] = (
        lambda: shifted(stage, tgt),
        lambda: starts_undecided(stage, model, src, tgt, words),
        lambda: sees_no_future(stage, model, src, tgt),
        lambda: reads_the_source(stage, model, src, tgt),
        lambda: learns_by_heart(stage, model, src, tgt),
    )
    for look in looks:
        look()
        if len(stage.faults) > known:
            return


def shifted(stage: Stage, tgt: Tensor) -> None:
    """The decoder is shown what is before each label, and nothing else."""
    shown, labels = stage.own("ex12_batching").teacher_forcing(tgt)
    if not (torch.equal(shown, tgt[:, :-1]) and torch.equal(labels, tgt[:, 1:])):
        stage.report_fault("ex12_batching", "the labels are not the words that follow those the decoder is shown")


def starts_undecided(
    stage: Stage, model: nn.Module, src: Tensor, tgt: Tensor, words: int, part: str = "ex10_transformer"
) -> None:
    """An untrained model gives every word about the same chance, so its loss is near the logarithm of their number."""
    loss_of = stage.own("ex13_training").sequence_loss
    even = float(loss_of(torch.zeros(*tgt[:, 1:].shape, words, device=tgt.device), tgt[:, 1:]))
    expected = math.log(words)
    if abs(even - expected) > 1e-3 * expected:
        told = f"where all {words:,} words are as likely the loss is {even:.3f}, expected {expected:.3f}, its logarithm"
        stage.report_fault("ex13_training", told)
        return
    loss = float(loss_of(_logits(model, src, tgt[:, :-1]), tgt[:, 1:]))
    if not abs(loss - expected) <= NEAR * expected:
        told = f"before training the loss is {loss:.2f}, expected about {expected:.2f}, the logarithm of {words:,}"
        stage.report_fault(part, told)
        return
    stage.print(f"The loss before training is {loss:.2f}; the logarithm of {words:,} words is {expected:.2f}.")


def sees_no_future(stage: Stage, model: nn.Module, src: Tensor, tgt: Tensor) -> None:
    """What is said at a position does not depend on the words after it."""
    shown = tgt[:, :-1]
    half = shown.size(1) // 2
    other = shown.clone()
    other[:, half:] = other[:, half:].roll(1, 0)
    masks = stage.own("ex04_masks")
    ones = torch.ones_like(shown[:1])
    look_ahead = torch.ones(ones.size(1), ones.size(1), dtype=torch.bool, device=tgt.device).tril()
    if not torch.equal(masks.create_target_mask(ones)[0, 0].bool(), look_ahead):
        stage.report_fault("ex04_masks", "the target mask lets a position see words after it, or not those before it")
        return
    src_mask = (src != 0)[:, None, None]
    given = (src_mask, look_ahead & (shown != 0)[:, None, None])
    leak = _apart(model, (src, shown, *given), (src, other, *given), half)
    if leak > SAME:
        told = f"with the right masks, changing a later word moves the logits of earlier ones by {leak:.3f}"
        stage.report_fault("ex05_attention" if attention_leaks(stage) else "ex09_decoder", told)
        return
    leak = _apart(model, (src, shown), (src, other), half)
    if leak > SAME:
        told = f"changing a later word of the target moves the logits of earlier ones by {leak:.3f}, expected 0"
        stage.report_fault("ex10_transformer", told)
        return
    stage.print("No word of the target sees a later one.")


def attention_leaks(stage: Stage) -> bool:
    x = torch.randn(1, 3, 4)
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    _, weights = stage.own("ex05_attention").scaled_dot_product_attention(x, x, x, mask)
    return float(weights.detach().triu(1).abs().max()) > SAME


def reads_the_source(stage: Stage, model: nn.Module, src: Tensor, tgt: Tensor) -> None:
    """Another source gives other logits, more padding behind it the same ones."""
    shown = tgt[:, :-1]
    moved = _apart(model, (src, shown), (src.roll(1, 0), shown), shown.size(1))
    if not moved > SAME:
        stage.report_fault("ex09_decoder", "the logits do not depend on the source: the decoder does not read it")
        return
    padded = torch.nn.functional.pad(src, (0, 2))
    moved = _apart(model, (src, shown), (padded, shown), shown.size(1))
    if moved > SAME:
        masks = stage.own("ex04_masks")
        hidden = torch.equal(masks.create_padding_mask(src).bool(), (src != 0)[:, None, None])
        told = f"more padding behind the source moves the logits by {moved:.3f}, expected 0"
        stage.report_fault("ex10_transformer" if hidden else "ex04_masks", told)
        return
    stage.print("Every word of the source is read, and none of its padding.")


def learns_by_heart(stage: Stage, model: nn.Module, src: Tensor, tgt: Tensor) -> None:
    """One batch is learned by heart in a few steps, and then translated word for word."""
    before = [each.detach().clone() for each in model.parameters()]
    optimizer = adam(model, RATE)
    train_step = stage.own("ex13_training").train_step
    losses: list[float] = []
    while len(losses) < STEPS and not (losses and losses[-1] < LEARNED):
        losses.append(train_step(model, optimizer, src, tgt, max_grad_norm=1.0))
    still = [bool(torch.equal(old, new)) for old, new in zip(before, model.parameters(), strict=True)]
    if all(still):
        stage.report_fault("ex13_training", f"{STEPS} steps have changed no parameter of the model")
        return
    if not losses[-1] < LEARNED:
        told = f"{STEPS} steps on one batch bring the loss from {losses[0]:.2f} to {losses[-1]:.2f}, expected below"
        stage.report_fault("ex10_transformer", f"{told} {LEARNED}")
        return
    said = stage.own("ex14_generation").greedy_translate(model, src, tgt.size(1) + 1)
    right = sum(_words(one) == _words(other) for one, other in zip(said.tolist(), tgt.tolist(), strict=True))
    if right < 0.75 * len(tgt):
        told = f"of {len(tgt)} sentences it knows by heart, loss {losses[-1]:.3f}, it translates {right}"
        stage.report_fault("ex14_generation", told)
        return
    learned = f"{len(tgt)} sentences are learned by heart in {len(losses)} steps"
    stage.print(f"{learned}, loss {losses[-1]:.3f}; {right} of them are translated.")


def _words(ids: Sequence[int]) -> list[int]:
    return [each for each in ids if each != 0]


def _logits(model: nn.Module, *arguments: Tensor) -> Tensor:
    model.eval()
    with torch.no_grad():
        logits: Tensor = model(*arguments)
    return logits


def _apart(model: nn.Module, one: Sequence[Tensor], other: Sequence[Tensor], until: int) -> float:
    """Return the largest difference of the logits of two inputs at the positions before `until`."""
    return float((_logits(model, *one)[:, :until] - _logits(model, *other)[:, :until]).abs().max())
