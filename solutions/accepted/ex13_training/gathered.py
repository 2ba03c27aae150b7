# The cross-entropy by hand: log_softmax, gather, and a masked mean. Clipping is also by hand.
import math

import torch
from ex12_batching import teacher_forcing
from torch import Tensor, nn


def sequence_loss(logits: Tensor, labels: Tensor, pad_idx: int = 0, label_smoothing: float = 0.0) -> Tensor:
    log_probabilities = torch.log_softmax(logits, dim=-1)
    of_labels = -log_probabilities.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    of_all = -log_probabilities.mean(dim=-1)
    each = (1 - label_smoothing) * of_labels + label_smoothing * of_all
    real = labels != pad_idx
    return (each * real).sum() / real.sum().clamp(min=1)


def warmup_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    step = step or 1
    if step < warmup_steps:
        return step / (math.sqrt(d_model) * warmup_steps * math.sqrt(warmup_steps))
    return 1 / math.sqrt(d_model * step)


def train_step(model, optimizer, src, tgt, pad_idx=0, max_grad_norm=None) -> float:
    if not model.training:
        model.train()
    decoder_input, labels = teacher_forcing(tgt)
    optimizer.zero_grad(set_to_none=False)
    loss = sequence_loss(model(src=src, tgt=decoder_input), labels, pad_idx=pad_idx)
    loss.backward()
    if max_grad_norm is not None:
        gradients = [each.grad for each in model.parameters() if each.grad is not None]
        length = math.sqrt(sum(float(each.square().sum()) for each in gradients))
        if length > max_grad_norm:
            for each in gradients:
                each.mul_(max_grad_norm / length)
    optimizer.step()
    return float(loss)


def fit(model: nn.Module, optimizer, batches, epochs: int, pad_idx: int = 0) -> list[float]:
    means = []
    for _ in range(epochs):
        total = 0.0
        for src, tgt in batches:
            total += train_step(model, optimizer, src, tgt, pad_idx=pad_idx)
        means.append(total / len(batches))
    return means
