# Use ones and zeros, cumulative sums and products, and convert to Bool at the end.
import torch
from torch import Tensor


def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    return (seq - pad_idx).bool().reshape(len(seq), 1, 1, -1)


def create_look_ahead_mask(size: int, device: torch.device | str | None = None) -> Tensor:
    return torch.eye(size, device=device).cumsum(dim=0).bool()


def create_target_mask(tgt: Tensor, pad_idx: int = 0) -> Tensor:
    real = create_padding_mask(tgt, pad_idx).long()
    earlier = create_look_ahead_mask(tgt.size(-1), tgt.device).long()
    return torch.einsum("bhis,ts->bhts", real, earlier) > 0
