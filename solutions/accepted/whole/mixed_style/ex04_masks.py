import torch
from torch import Tensor


def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    real = seq != pad_idx
    return real[:, None, None, :]


def create_look_ahead_mask(size: int, device: torch.device | str | None = None) -> Tensor:
    pos = torch.arange(size, device=device)
    return pos[:, None] >= pos[None, :]


def create_target_mask(tgt: Tensor, pad_idx: int = 0) -> Tensor:
    causal = create_look_ahead_mask(tgt.size(-1), device=tgt.device)
    return create_padding_mask(tgt, pad_idx) & causal
