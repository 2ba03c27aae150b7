"""What has to hold of a language model before a long training is worth its time. What fails names an exercise."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from autograder.learner.play.stage import Stage
from play.learning import adam
from play.sanity import RATE, SAME, attention_leaks, shifted, starts_undecided
from play.writer import Paired, Writer

STEPS, LEARNED, KNOWN = 100, 0.2, 0.75
"""So many steps on one batch bring the loss below this, and so much of it can then be said by heart."""

ROWS, LONG = 4, 16
"""The batch that is learned by heart."""


def sane(stage: Stage, writer: Writer, model: nn.Module) -> None:
    """Look at an untrained model that has the words and the window of `writer`, and one batch of ids drawn at random.

    The batch is learned by heart, so hand over a model that is not needed any more. The first thing that does not hold
    goes to `stage.report_fault`; the rest may only follow from it.
    """
    draw = torch.Generator().manual_seed(stage.seed)
    long = min(LONG, writer.window - 1)  # with the one before them they are no more than the model takes
    ids = torch.randint(4, len(writer.vocab), (ROWS, long + 1), generator=draw).to(stage.device)
    paired = Paired(model)
    known = len(stage.faults)
    looks: tuple[Callable[[], None], ...] = (
        lambda: shifted(stage, ids),
        lambda: starts_undecided(stage, paired, ids, ids, len(writer.vocab), part="ex11_language_model"),
        lambda: sees_no_future(stage, paired, ids),
        lambda: learns_by_heart(stage, paired, ids),
    )
    for look in looks:
        look()
        if len(stage.faults) > known:
            return


def sees_no_future(stage: Stage, paired: Paired, ids: Tensor) -> None:
    """What is said at a position depends on the pieces before it, and on none after it."""
    half = ids.size(1) // 2
    later, earlier = ids.clone(), ids.clone()
    later[:, half:] = later[:, half:].roll(1, 0)
    earlier[:, 0] = earlier[:, 0].roll(1, 0)
    paired.eval()
    with torch.no_grad():
        logits, other, moved = (paired(each, each) for each in (ids, later, earlier))
    leak = float((logits - other)[:, :half].abs().max())
    if not leak <= SAME:
        size = ids.size(1)
        look_ahead = stage.own("ex04_masks").create_look_ahead_mask(size).bool().cpu()
        right = torch.equal(look_ahead, torch.ones(size, size, dtype=torch.bool).tril())
        part = "ex04_masks" if not right else "ex05_attention" if attention_leaks(stage) else "ex11_language_model"
        stage.report_fault(part, f"changing a later piece moves the logits of earlier ones by {leak:.3f}, expected 0")
        return
    if not float((logits - moved)[:, -1].abs().max()) > SAME:
        told = "the logits at the end are the same whatever the text begins with: nothing before is looked at"
        stage.report_fault("ex11_language_model", told)
        return
    stage.print("No piece of the text sees a later one, and each sees those before it.")


def learns_by_heart(stage: Stage, paired: Paired, ids: Tensor) -> None:
    """One batch is learned by heart in a few steps, and then said by heart."""
    before = [each.detach().clone() for each in paired.parameters()]
    optimizer = adam(paired, RATE)
    train_step = stage.own("ex13_training").train_step
    losses = [train_step(paired, optimizer, ids, ids, max_grad_norm=1.0) for _ in range(STEPS)]
    if all(torch.equal(old, new) for old, new in zip(before, paired.parameters(), strict=True)):
        stage.report_fault("ex13_training", f"{STEPS} steps have changed no parameter of the model")
        return
    half = ids.size(1) // 2
    said = stage.own("ex14_generation").generate(paired.model, ids[:, :half], ids.size(1) - half)
    right = float((said[:, half:] == ids[:, half:]).float().mean()) if said.shape == ids.shape else 0.0
    if not losses[-1] < LEARNED:
        told = f"{STEPS} steps on one batch bring the loss from {losses[0]:.2f} to {losses[-1]:.2f}, expected below"
        stage.report_fault("ex11_language_model", f"{told} {LEARNED}")
    elif right < KNOWN:
        told = f"of a batch that it knows by heart, loss {losses[-1]:.3f}, it goes on right with {right:.0%}"
        stage.report_fault("ex14_generation", told)
    else:
        stage.print(
            f"{ROWS} rows are learned by heart in {STEPS} steps: loss {losses[-1]:.3f}, {right:.0%} said by heart."
        )
