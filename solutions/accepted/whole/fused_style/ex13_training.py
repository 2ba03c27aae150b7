"""Training, with the loss as one weighted sum."""

from statistics import fmean

import torch
from ex12_batching import teacher_forcing
from torch import Tensor, nn


def sequence_loss(logits: Tensor, labels: Tensor, pad_idx: int = 0, label_smoothing: float = 0.0) -> Tensor:
    real = labels.ne(pad_idx)
    log_p = logits.log_softmax(-1)
    wanted = torch.full_like(log_p, label_smoothing / logits.size(-1))
    wanted.scatter_add_(
        -1,
        labels.where(real, 0).unsqueeze(-1),
        torch.full_like(log_p[..., :1], 1 - label_smoothing),
    )
    asked = (wanted > 0) & real.unsqueeze(-1)
    return -(wanted * log_p).where(asked, 0).sum() / real.sum()


def warmup_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    step = max(step, 1)
    return (d_model * max(step, warmup_steps**3 / step**2)) ** -0.5


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    src: Tensor,
    tgt: Tensor,
    pad_idx: int = 0,
    max_grad_norm: float | None = None,
) -> float:
    model.train()
    given, labels = teacher_forcing(tgt)
    model.zero_grad(set_to_none=True)
    with torch.enable_grad():
        loss = sequence_loss(model(src, given), labels, pad_idx)
        loss.backward()
    if max_grad_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
    optimizer.step()
    return loss.item()


def fit(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: list[tuple[Tensor, Tensor]],
    epochs: int,
    pad_idx: int = 0,
) -> list[float]:
    def epoch() -> float:
        return fmean(train_step(model, optimizer, *batch, pad_idx=pad_idx) for batch in batches)

    return [epoch() for _ in range(epochs)]
