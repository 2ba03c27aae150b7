"""Checks of a tokenizer and an untrained modern model before a long training. A failure names the faulty exercise."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from autograder.play import Stage
from play.chatter import Chatter

SAME = 1e-3
"""Two logits that differ by more are different: rounding stays below."""

ROWS, LONG = 4, 24
"""The size of the batch of random ids."""

STEPS, LEARNED = 60, 0.5
"""This many steps on one batch must bring its loss below this share of the first."""

CHUNKS = (1, 3, 7)

EXAMINED_SIZES = {"d_model": 64, "num_heads": 4, "num_kv_heads": 2, "d_ff": 172, "num_layers": 2}
"""The sizes of the model that memorises a batch, whatever the options say."""


def check_chatter(stage: Stage, chatter: Chatter, text: str) -> None:
    """Examine a tokenizer on a text, and an untrained model on random ids. The first failure ends the examination."""
    draw = torch.Generator().manual_seed(stage.seed)
    long = min(LONG, chatter.window)
    ids = torch.randint(1, len(chatter.vocabulary), (ROWS, long), generator=draw).to(stage.device)
    known = len(stage.faults)
    checks: tuple[Callable[[], None], ...] = (
        lambda: _check_tokenizer(stage, chatter, text),
        lambda: _check_initial_loss(stage, chatter, ids),
        lambda: _check_causality(stage, chatter, ids),
        lambda: _check_cache(stage, chatter, ids),
        lambda: _check_learning(stage, chatter, ids),
    )
    for check in checks:
        check()
        if len(stage.faults) > known:
            return


def _check_tokenizer(stage: Stage, chatter: Chatter, text: str) -> None:
    whole: list[int] = chatter.tokenizer.encode(text)
    if chatter.tokenizer.decode(whole) != text:
        stage.report_fault("ex15_byte_pair_encoding", "decode(encode(text)) is not the text")
    elif "\n\n" not in text and whole != chatter.ids(text):
        stage.report_fault("ex15_byte_pair_encoding", "a text has other tokens than its words have, one by one")
    else:
        share = len(text.encode()) / max(1, len(whole))
        stage.print(f"The tokenizer returns the text it was given; a token holds {share:.1f} bytes.")


def _logits(chatter: Chatter, ids: Tensor) -> Tensor:
    chatter.model.eval()
    with torch.no_grad():
        logits: Tensor = chatter.model(ids)
    return logits


def _check_initial_loss(stage: Stage, chatter: Chatter, ids: Tensor) -> None:
    logits = _logits(chatter, ids[:, :-1])
    loss = float(functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()))
    expected = math.log(len(chatter.vocabulary))
    if not loss < expected + 1:
        message = f"before training the loss is {loss:.2f}, expected below ln V + 1 = {expected + 1:.2f}"
        stage.report_fault("ex22_modern_model", message)
        return
    stage.print(f"The loss before training is {loss:.2f}, near ln {len(chatter.vocabulary)} = {expected:.2f}.")


def _check_causality(stage: Stage, chatter: Chatter, ids: Tensor) -> None:
    half = ids.size(1) // 2
    other = ids.clone()
    other[:, half:] = other[:, half:].roll(1, 0)
    leak = float((_logits(chatter, ids) - _logits(chatter, other))[:, :half].abs().max())
    if not leak <= SAME:
        message = f"a later token changes the logits of earlier ones by {leak:.3f}, expected 0"
        stage.report_fault("ex19_grouped_query_attention", message)
        return
    stage.print("Each token sees the earlier ones, and no later one.")


def _check_cache(stage: Stage, chatter: Chatter, ids: Tensor) -> None:
    model, whole = chatter.model, _logits(chatter, ids)
    for size in CHUNKS:
        with torch.no_grad():
            caches = model.make_cache()  # type: ignore[operator]
            logits = torch.cat([model(chunk, caches) for chunk in torch.split(ids, size, dim=1)], dim=1)
        apart = float((logits - whole).abs().max())
        if not apart <= SAME:
            part = "ex21_sliding_window" if chatter.arguments["window"] else "ex20_kv_cache"
            message = f"in chunks of {size}, the logits differ from those of one pass by {apart:.3f}, expected 0"
            stage.report_fault(part, message)
            return
    stage.print("Chunks of 1, 3 and 7 tokens through the cache give the logits of one pass.")


def _check_learning(stage: Stage, chatter: Chatter, ids: Tensor) -> None:
    """Check that a model of its own memorises one batch."""
    own = stage.own("ex26_optimizer")
    model = chatter.new_model(**EXAMINED_SIZES)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    optimizer = own.AdamW(model.parameters(), lr=3e-3)
    losses = [float(own.accumulated_step(model, optimizer, [ids[:2], ids[2:]])) for _ in range(STEPS)]
    if all(torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True)):
        stage.report_fault("ex26_optimizer", f"{STEPS} steps did not change any parameter of the model")
    elif not losses[-1] < LEARNED * losses[0]:
        fall = f"from {losses[0]:.2f} to {losses[-1]:.2f}, expected below {LEARNED * losses[0]:.2f}"
        stage.report_fault("ex26_optimizer", f"{STEPS} steps on one batch bring the loss {fall}")
    else:
        stage.print(f"{STEPS} steps on one batch bring its loss from {losses[0]:.2f} to {losses[-1]:.2f}.")
