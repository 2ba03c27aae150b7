"""Reference part for ex13: the loss as a weighted sum of log-probabilities, in float32 at least."""

import torch


def sequence_loss(logits, labels, pad_idx=0, label_smoothing=0.0):
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    logs = wide.sub(wide.logsumexp(-1, keepdim=True))
    right = logs.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    each = right.mul(1 - label_smoothing).add(logs.mean(-1).mul(label_smoothing))
    real = labels.ne(pad_idx)
    return torch.where(real, each, 0.0).sum().div(real.sum()).neg()
