# Transpose the classes to axis 1, replace padding in a copy of the labels, and pass a closure to the optimizer.
import statistics

import torch
from ex12_batching import teacher_forcing
from torch import Tensor
from torch.nn import functional


def sequence_loss(logits: Tensor, labels: Tensor, pad_idx: int = 0, label_smoothing: float = 0.0) -> Tensor:
    answers = labels.masked_fill(labels == pad_idx, -100)
    return functional.cross_entropy(logits.transpose(1, 2), answers, label_smoothing=label_smoothing)


def warmup_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    rising = max(step, 1) / warmup_steps**1.5
    falling = 1 / max(step, 1) ** 0.5
    return min(rising, falling) / d_model**0.5


def train_step(model, optimizer, src, tgt, pad_idx=0, max_grad_norm=None):
    decoder_input, labels = teacher_forcing(tgt)

    def closure():
        optimizer.zero_grad()
        loss = sequence_loss(model(src, decoder_input), labels, pad_idx)
        loss.backward()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_([each for each in model.parameters() if each.requires_grad], max_grad_norm)
        return loss

    was_training = model.training
    model.train()
    try:
        return optimizer.step(closure).item()
    finally:
        model.train(was_training)


def fit(model, optimizer, batches, epochs, pad_idx=0):
    return [
        statistics.fmean(train_step(model, optimizer, src, tgt, pad_idx) for src, tgt in batches) for _ in range(epochs)
    ]
