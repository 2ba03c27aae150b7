# Masks, row by row; True where attention is allowed.

import torch
from torch import Tensor


def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    batch, length = seq.shape
    real = torch.ne(seq, pad_idx)
    return real.reshape(batch, 1, 1, length)


def create_look_ahead_mask(size: int, device: torch.device | str | None = None) -> Tensor:
    mask = torch.zeros((size, size), dtype=torch.bool, device=device)
    for row in range(size):
        mask[row, : row + 1] = True
    return mask


def create_target_mask(tgt: Tensor, pad_idx: int = 0) -> Tensor:
    length = tgt.shape[1]
    padding = create_padding_mask(tgt, pad_idx)
    look_ahead = create_look_ahead_mask(length, device=tgt.device)
    return torch.logical_and(padding, look_ahead)


def with_head_axis(mask: Tensor) -> Tensor:
    """Return a mask (T, S), (B, T, S) or with four axes as a mask with four axes."""
    if mask.dim() == 2:
        return mask.unsqueeze(0).unsqueeze(0)
    if mask.dim() == 3:
        return mask.unsqueeze(1)
    return mask
