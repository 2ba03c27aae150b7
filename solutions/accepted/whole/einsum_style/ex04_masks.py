"""Masks by broadcast comparison."""

import torch
from torch import Tensor


def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    return (seq != pad_idx)[:, None, None]


def create_look_ahead_mask(size: int, device: torch.device | str | None = None) -> Tensor:
    return (at := torch.arange(size, device=device))[:, None] >= at


def create_target_mask(tgt: Tensor, pad_idx: int = 0) -> Tensor:
    return create_padding_mask(tgt, pad_idx) & create_look_ahead_mask(tgt.size(1), tgt.device)
