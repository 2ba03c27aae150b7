"""Checks of an untrained encoder-decoder before a long training. A failure names the faulty exercise."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from autograder.play import Stage
from play.learning import adam

NEAR = 0.2
"""How far the loss of an untrained model may be from the logarithm of the vocabulary size, as a share of it."""

STEPS, RATE, LEARNED = 300, 3e-3, 0.1
"""This many steps on one batch, at this rate, must bring the loss below this; most models need far fewer."""

SAME = 1e-4
"""Two logits that differ by more are different: rounding stays below."""


def check_model(stage: Stage, model: nn.Module, src: Tensor, tgt: Tensor, words: int) -> None:
    """Examine an untrained encoder-decoder and one batch, src (B, S) and tgt (B, T), padded on the right with 0.

    `words` is the size of the target vocabulary. The model is trained on the batch, so pass one that you do not need.
    The first failure goes to `stage.report_fault`; later ones may only follow from it.
    """
    known = len(stage.faults)
    checks: tuple[Callable[[], None], ...] = (
        lambda: check_teacher_forcing(stage, tgt),
        lambda: check_initial_loss(stage, model, src, tgt, words),
        lambda: check_causality(stage, model, src, tgt),
        lambda: check_source_is_read(stage, model, src, tgt),
        lambda: check_overfitting(stage, model, src, tgt),
    )
    for check in checks:
        check()
        if len(stage.faults) > known:
            return


def check_teacher_forcing(stage: Stage, tgt: Tensor) -> None:
    """Check that the decoder input is the target up to the last word, and the labels are the words after it."""
    shown, labels = stage.own("ex12_batching").teacher_forcing(tgt)
    if not (torch.equal(shown, tgt[:, :-1]) and torch.equal(labels, tgt[:, 1:])):
        stage.report_fault("ex12_batching", "the labels are not the decoder inputs shifted by one word")


def check_initial_loss(
    stage: Stage, model: nn.Module, src: Tensor, tgt: Tensor, words: int, part: str = "ex10_transformer"
) -> None:
    """Check that the initial loss is near the logarithm of the vocabulary size: every word is about as likely."""
    loss_of = stage.own("ex13_training").sequence_loss
    even = float(loss_of(torch.zeros(*tgt[:, 1:].shape, words, device=tgt.device), tgt[:, 1:]))
    expected = math.log(words)
    if abs(even - expected) > 1e-3 * expected:
        message = f"for {words:,} equally likely words the loss is {even:.3f}, expected ln {words} = {expected:.3f}"
        stage.report_fault("ex13_training", message)
        return
    loss = float(loss_of(_logits(model, src, tgt[:, :-1]), tgt[:, 1:]))
    if not abs(loss - expected) <= NEAR * expected:
        message = f"before training the loss is {loss:.2f}, expected about ln {words} = {expected:.2f}"
        stage.report_fault(part, message)
        return
    stage.print(f"The loss before training is {loss:.2f}, near ln {words} = {expected:.2f}.")


def check_causality(stage: Stage, model: nn.Module, src: Tensor, tgt: Tensor) -> None:
    """Check that the logits of a position do not depend on later words."""
    shown = tgt[:, :-1]
    half = shown.size(1) // 2
    other = shown.clone()
    other[:, half:] = other[:, half:].roll(1, 0)
    masks = stage.own("ex04_masks")
    ones = torch.ones_like(shown[:1])
    look_ahead = torch.ones(ones.size(1), ones.size(1), dtype=torch.bool, device=tgt.device).tril()
    if not torch.equal(masks.create_target_mask(ones)[0, 0].bool(), look_ahead):
        stage.report_fault("ex04_masks", "the target mask shows a position later words, or hides earlier ones")
        return
    src_mask = (src != 0)[:, None, None]
    given = (src_mask, look_ahead & (shown != 0)[:, None, None])
    leak = _apart(model, (src, shown, *given), (src, other, *given), half)
    if leak > SAME:
        message = f"even with correct masks, a later word changes the logits of earlier ones by {leak:.3f}, expected 0"
        stage.report_fault("ex05_attention" if attention_leaks(stage) else "ex09_decoder", message)
        return
    leak = _apart(model, (src, shown), (src, other), half)
    if leak > SAME:
        message = f"a later word of the target changes the logits of earlier ones by {leak:.3f}, expected 0"
        stage.report_fault("ex10_transformer", message)
        return
    stage.print("No position of the target sees a later word.")


def attention_leaks(stage: Stage) -> bool:
    """Return whether attention gives weight to masked positions."""
    x = torch.randn(1, 3, 4)
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    _, weights = stage.own("ex05_attention").scaled_dot_product_attention(x, x, x, mask)
    return float(weights.detach().triu(1).abs().max()) > SAME


def check_source_is_read(stage: Stage, model: nn.Module, src: Tensor, tgt: Tensor) -> None:
    """Check that another source changes the logits, and that more padding does not."""
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
        message = f"more padding after the source changes the logits by {moved:.3f}, expected 0"
        stage.report_fault("ex10_transformer" if hidden else "ex04_masks", message)
        return
    stage.print("The decoder reads the source, and none of its padding.")


def check_overfitting(stage: Stage, model: nn.Module, src: Tensor, tgt: Tensor) -> None:
    """Check that the model can overfit one batch in a few steps, and then translates it word for word."""
    before = [parameter.detach().clone() for parameter in model.parameters()]
    optimizer = adam(model, RATE)
    train_step = stage.own("ex13_training").train_step
    losses: list[float] = []
    while len(losses) < STEPS and not (losses and losses[-1] < LEARNED):
        losses.append(train_step(model, optimizer, src, tgt, max_grad_norm=1.0))
    if all(torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True)):
        stage.report_fault("ex13_training", f"{STEPS} training steps did not change any parameter of the model")
        return
    if not losses[-1] < LEARNED:
        fall = f"from {losses[0]:.2f} to {losses[-1]:.2f}, expected below {LEARNED}"
        stage.report_fault("ex10_transformer", f"{STEPS} steps on one batch bring the loss {fall}")
        return
    translations = stage.own("ex14_generation").greedy_translate(model, src, tgt.size(1) + 1)
    pairs = zip(translations.tolist(), tgt.tolist(), strict=True)
    right = sum(_words(translation) == _words(label) for translation, label in pairs)
    if right < 0.75 * len(tgt):
        message = f"of {len(tgt)} memorised sentences (loss {losses[-1]:.3f}) it translates {right} correctly"
        stage.report_fault("ex14_generation", message)
        return
    memorised = f"The model memorises {len(tgt)} sentences in {len(losses)} steps"
    stage.print(f"{memorised} (loss {losses[-1]:.3f}), and translates {right} of them correctly.")


def _words(ids: Sequence[int]) -> list[int]:
    return [id_ for id_ in ids if id_ != 0]


def _logits(model: nn.Module, *arguments: Tensor) -> Tensor:
    model.eval()
    with torch.no_grad():
        logits: Tensor = model(*arguments)
    return logits


def _apart(model: nn.Module, one: Sequence[Tensor], other: Sequence[Tensor], until: int) -> float:
    """Return the largest difference of the logits of two inputs at the positions before `until`."""
    return float((_logits(model, *one)[:, :until] - _logits(model, *other)[:, :until]).abs().max())
