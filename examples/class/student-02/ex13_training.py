# Part 13: training

from typing import List, Optional, Tuple

import torch
import torch.nn as nn
from ex12_batching import teacher_forcing
from torch import Tensor


def sequence_loss(logits: Tensor, labels: Tensor, pad_idx: int = 0, label_smoothing: float = 0.0) -> Tensor:
    # ignore_index: no loss for the padding
    loss_function = nn.CrossEntropyLoss(ignore_index=pad_idx, label_smoothing=label_smoothing)
    vocab_size = logits.shape[-1]
    # (batch, seq_len, vocab_size) -> (batch * seq_len, vocab_size)
    # (batch, seq_len) -> (batch * seq_len)
    return loss_function(logits.reshape(-1, vocab_size), labels.reshape(-1))


def warmup_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    # 0 ** -0.5 is not possible
    if step == 0:
        step = 1
    rising = step * warmup_steps ** (-1.5)
    falling = step ** (-0.5)
    return d_model ** (-0.5) * min(falling, rising)


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    src: Tensor,
    tgt: Tensor,
    pad_idx: int = 0,
    max_grad_norm: Optional[float] = None,
) -> float:
    # dropout must be on
    model.train()
    decoder_input, labels = teacher_forcing(tgt)

    # forward
    logits = model(src, decoder_input)
    loss = sequence_loss(logits, labels, pad_idx)

    # backward, with the old gradients removed first
    optimizer.zero_grad()
    loss.backward()
    if max_grad_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)

    # update the weights
    optimizer.step()
    return loss.item()


def fit(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: List[Tuple[Tensor, Tensor]],
    epochs: int,
    pad_idx: int = 0,
) -> List[float]:
    epoch_losses = []
    for epoch in range(epochs):
        total_loss = 0.0
        for src, tgt in batches:
            total_loss += train_step(model, optimizer, src, tgt, pad_idx)
        # the mean over all batches
        epoch_losses.append(total_loss / len(batches))
    return epoch_losses
