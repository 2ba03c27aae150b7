# Training, with the loss, the clipping and the mean written out.

import math

import ex12_batching
import torch
from ex10_transformer import missing_masks
from torch import Tensor, nn


def losses_of_sentence(logits: Tensor, labels: Tensor, label_smoothing: float) -> Tensor:
    """Return the cross-entropy at each position of one sentence: logits (T, V), labels (T,)."""
    log_probabilities = torch.log_softmax(logits, dim=-1)
    of_label = log_probabilities.gather(1, labels.unsqueeze(1)).squeeze(1)
    if label_smoothing == 0.0:
        return -of_label
    of_all = log_probabilities.mean(dim=-1)
    return -(1.0 - label_smoothing) * of_label - label_smoothing * of_all


def sequence_loss(logits: Tensor, labels: Tensor, pad_idx: int = 0, label_smoothing: float = 0.0) -> Tensor:
    parts = []
    for logits_of_sentence, labels_of_sentence in zip(logits, labels, strict=True):
        real = labels_of_sentence != pad_idx
        parts.append(losses_of_sentence(logits_of_sentence[real], labels_of_sentence[real], label_smoothing))
    return torch.cat(parts).mean()


def warmup_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    if step == 0:
        step = 1
    rising = step / (warmup_steps * math.sqrt(warmup_steps))
    falling = 1 / math.sqrt(step)
    return min(rising, falling) / math.sqrt(d_model)


def clip_gradients(model: nn.Module, max_grad_norm: float) -> None:
    """Scale all gradients down by one factor if their norm is above the limit."""
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    total = 0.0
    for gradient in gradients:
        total += gradient.double().square().sum().item()
    length = math.sqrt(total)
    if length > max_grad_norm:
        for gradient in gradients:
            gradient.mul_(max_grad_norm / length)


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    src: Tensor,
    tgt: Tensor,
    pad_idx: int = 0,
    max_grad_norm: float | None = None,
) -> float:
    model.train()
    decoder_input, labels = ex12_batching.teacher_forcing(tgt)
    src_mask, tgt_mask = missing_masks(src, decoder_input, pad_idx)
    optimizer.zero_grad()
    logits = model(src, decoder_input, src_mask=src_mask, tgt_mask=tgt_mask)
    loss = sequence_loss(logits, labels, pad_idx)
    loss.backward()
    if max_grad_norm is not None:
        clip_gradients(model, max_grad_norm)
    optimizer.step()
    return float(loss.detach())


def fit(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: list[tuple[Tensor, Tensor]],
    epochs: int,
    pad_idx: int = 0,
) -> list[float]:
    means = []
    for _ in range(epochs):
        total = 0.0
        count = 0
        for src, tgt in batches:
            total += train_step(model, optimizer, src, tgt, pad_idx=pad_idx)
            count += 1
        means.append(total / count)
    return means
