"""Checks of an untrained language model before a long training. A failure names the faulty exercise."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from autograder.play import Stage
from play.learning import adam
from play.sanity import RATE, SAME, attention_leaks, check_initial_loss, check_teacher_forcing
from play.writer import AsTransformer, Writer

STEPS, LEARNED, KNOWN = 100, 0.2, 0.75
"""This many steps on one batch must bring the loss below this, and this share of it must be continued correctly."""

ROWS, LONG = 4, 16
"""The size of the batch to memorise."""


def check_model(stage: Stage, writer: Writer, model: nn.Module) -> None:
    """Examine an untrained model with the vocabulary and the window of `writer`, on one batch of random ids.

    The model is trained on the batch, so pass one that you do not need. The first failure goes to
    `stage.report_fault`; later ones may only follow from it.
    """
    draw = torch.Generator().manual_seed(stage.seed)
    long = min(LONG, writer.window - 1)  # one more id is the first input
    ids = torch.randint(4, len(writer.vocab), (ROWS, long + 1), generator=draw).to(stage.device)
    as_transformer = AsTransformer(model)
    known = len(stage.faults)
    checks: tuple[Callable[[], None], ...] = (
        lambda: check_teacher_forcing(stage, ids),
        lambda: check_initial_loss(stage, as_transformer, ids, ids, len(writer.vocab), part="ex11_language_model"),
        lambda: check_causality(stage, as_transformer, ids),
        lambda: check_overfitting(stage, as_transformer, ids),
    )
    for check in checks:
        check()
        if len(stage.faults) > known:
            return


def check_causality(stage: Stage, as_transformer: AsTransformer, ids: Tensor) -> None:
    """Check that the logits of a position depend on earlier pieces, and on no later one."""
    half = ids.size(1) // 2
    later, earlier = ids.clone(), ids.clone()
    later[:, half:] = later[:, half:].roll(1, 0)
    earlier[:, 0] = earlier[:, 0].roll(1, 0)
    as_transformer.eval()
    with torch.no_grad():
        logits, other, moved = (as_transformer(batch, batch) for batch in (ids, later, earlier))
    leak = float((logits - other)[:, :half].abs().max())
    if not leak <= SAME:
        size = ids.size(1)
        look_ahead = stage.own("ex04_masks").create_look_ahead_mask(size).bool().cpu()
        right = torch.equal(look_ahead, torch.ones(size, size, dtype=torch.bool).tril())
        part = "ex04_masks" if not right else "ex05_attention" if attention_leaks(stage) else "ex11_language_model"
        stage.report_fault(part, f"a later piece changes the logits of earlier ones by {leak:.3f}, expected 0")
        return
    if not float((logits - moved)[:, -1].abs().max()) > SAME:
        message = "the last logits do not depend on the first piece: the model ignores earlier pieces"
        stage.report_fault("ex11_language_model", message)
        return
    stage.print("Each piece of the text sees the earlier ones, and no later one.")


def check_overfitting(stage: Stage, as_transformer: AsTransformer, ids: Tensor) -> None:
    """Check that the model can overfit one batch in a few steps, and then continues it correctly."""
    before = [parameter.detach().clone() for parameter in as_transformer.parameters()]
    optimizer = adam(as_transformer, RATE)
    train_step = stage.own("ex13_training").train_step
    losses = [train_step(as_transformer, optimizer, ids, ids, max_grad_norm=1.0) for _ in range(STEPS)]
    if all(torch.equal(old, new) for old, new in zip(before, as_transformer.parameters(), strict=True)):
        stage.report_fault("ex13_training", f"{STEPS} training steps did not change any parameter of the model")
        return
    half = ids.size(1) // 2
    written = stage.own("ex14_generation").generate(as_transformer.model, ids[:, :half], ids.size(1) - half)
    right = float((written[:, half:] == ids[:, half:]).float().mean()) if written.shape == ids.shape else 0.0
    if not losses[-1] < LEARNED:
        fall = f"from {losses[0]:.2f} to {losses[-1]:.2f}, expected below {LEARNED}"
        stage.report_fault("ex11_language_model", f"{STEPS} steps on one batch bring the loss {fall}")
    elif right < KNOWN:
        message = f"of a memorised batch (loss {losses[-1]:.3f}) it continues {right:.0%} correctly"
        stage.report_fault("ex14_generation", message)
    else:
        memorised = f"The model memorises {ROWS} rows in {STEPS} steps (loss {losses[-1]:.3f})"
        stage.print(f"{memorised}, and continues {right:.0%} correctly.")
