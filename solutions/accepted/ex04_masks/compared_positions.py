# Compare positions with positions. One expression makes the target mask, without the other two functions.
import torch
from torch import Tensor


def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    return seq.ne(pad_idx).unsqueeze(1).unsqueeze(1)


def create_look_ahead_mask(size: int, device: torch.device | str | None = None) -> Tensor:
    positions = torch.arange(size, device=device)
    return positions <= positions.unsqueeze(1)


def create_target_mask(tgt: Tensor, pad_idx: int = 0) -> Tensor:
    positions = torch.arange(tgt.size(1), device=tgt.device)
    return (tgt[:, None, None, :] != pad_idx) & (positions[None, :] <= positions[:, None])
