import torch
import torch.nn.functional as F
from torch import nn, Tensor

from ex12_batching import teacher_forcing


def sequence_loss(logits: Tensor, labels: Tensor, pad_idx: int = 0, label_smoothing: float = 0.0) -> Tensor:
    B, T, C = logits.size()
    return F.cross_entropy(logits.reshape(B * T, C), labels.reshape(B * T), label_smoothing=label_smoothing)


def warmup_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    step = max(step, 1)  # step 0 would divide by zero
    return d_model ** -0.5 * min(step ** -0.5, step * warmup_steps ** -1.5)


def train_step(model: nn.Module, optimizer, src: Tensor, tgt: Tensor, pad_idx: int = 0, max_grad_norm=None) -> float:
    model.train()
    tgt_input, tgt_out = teacher_forcing(tgt)
    logits = model(src, tgt_input)
    loss = sequence_loss(logits, tgt_out, pad_idx)

    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    if max_grad_norm is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
    optimizer.step()
    return loss.item()


def fit(model: nn.Module, optimizer, batches, epochs: int, pad_idx: int = 0):
    losses = []
    for _ in range(epochs):
        running = 0.0
        for src, tgt in batches:
            running += train_step(model, optimizer, src, tgt, pad_idx)
        losses.append(running / len(batches))
    return losses
