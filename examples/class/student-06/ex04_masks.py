import numpy as np
import torch


def create_padding_mask(seq, pad_idx=0):
    mask = torch.eq(seq, pad_idx)

    # extra dimensions for the attention scores
    return mask[:, np.newaxis, np.newaxis, :]  # (batch_size, 1, 1, seq_len)


def create_look_ahead_mask(size, device=None):
    mask = torch.ones((size, size), dtype=torch.bool, device=device)
    return torch.tril(mask)  # (seq_len, seq_len)


def create_target_mask(tgt, pad_idx=0):
    padding_mask = create_padding_mask(tgt, pad_idx)
    look_ahead_mask = create_look_ahead_mask(tgt.shape[1], device=tgt.device)
    return torch.logical_and(padding_mask, look_ahead_mask)
