from statistics import fmean

import torch
from ex12_batching import teacher_forcing
from torch import Tensor, nn
from torch.nn.functional import cross_entropy


def sequence_loss(logits: Tensor, labels: Tensor, pad_idx: int = 0, label_smoothing: float = 0.0) -> Tensor:
    real = labels != pad_idx
    return cross_entropy(logits[real], labels[real], label_smoothing=label_smoothing)


def warmup_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    step = max(step, 1)
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    src: Tensor,
    tgt: Tensor,
    pad_idx: int = 0,
    max_grad_norm: float | None = None,
) -> float:
    model.train()
    decoder_input, labels = teacher_forcing(tgt)
    loss = sequence_loss(model(src, decoder_input), labels, pad_idx)
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
    def epoch() -> float:
        return fmean(train_step(model, optimizer, src, tgt, pad_idx) for src, tgt in batches)

    return [epoch() for _ in range(epochs)]
