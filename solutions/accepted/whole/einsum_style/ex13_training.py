"""Training in few lines."""

import torch
from ex12_batching import teacher_forcing
from torch import Tensor, nn
from torch.nn import functional as F


def sequence_loss(logits: Tensor, labels: Tensor, pad_idx: int = 0, label_smoothing: float = 0.0) -> Tensor:
    return F.cross_entropy(logits.mT, labels, ignore_index=pad_idx, label_smoothing=label_smoothing)


def warmup_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    return d_model**-0.5 * min((step or 1) ** -0.5, (step or 1) * warmup_steps**-1.5)


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    src: Tensor,
    tgt: Tensor,
    pad_idx: int = 0,
    max_grad_norm: float | None = None,
) -> float:
    shown, labels = teacher_forcing(tgt)
    loss = sequence_loss(model.train()(src, shown), labels, pad_idx)
    optimizer.zero_grad()
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
    return [
        sum(train_step(model, optimizer, src, tgt, pad_idx) for src, tgt in batches) / len(batches)
        for _ in range(epochs)
    ]
