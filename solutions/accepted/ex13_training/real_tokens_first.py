# Select the real tokens before nn.CrossEntropyLoss. Gradients are cleared at the end of a step.
import numpy as np
import torch
from ex12_batching import teacher_forcing
from torch import Tensor, nn


def sequence_loss(logits: Tensor, labels: Tensor, pad_idx: int = 0, label_smoothing: float = 0.0) -> Tensor:
    real = labels.ne(pad_idx)
    criterion = nn.CrossEntropyLoss(label_smoothing=label_smoothing)
    return criterion(logits[real], labels[real])


def warmup_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    step = np.maximum(step, 1).astype(np.float64)
    return np.minimum(step**-0.5, step * float(warmup_steps) ** -1.5) / np.sqrt(d_model)


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
    before = loss.detach().cpu().item()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), float("inf") if max_grad_norm is None else max_grad_norm)
    optimizer.step()
    model.zero_grad()
    return before


def fit(model, optimizer, batches, epochs, pad_idx=0):
    losses = np.zeros((epochs, len(batches)))
    for epoch in range(epochs):
        for i in range(len(batches)):
            losses[epoch, i] = train_step(model, optimizer, *batches[i], pad_idx)
    return list(losses.mean(axis=1))
