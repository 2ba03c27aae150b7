import torch
from torch import Tensor


def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    B, S = seq.size()
    return (seq != pad_idx).view(B, 1, 1, S)


def create_look_ahead_mask(size: int, device=None) -> Tensor:
    return torch.tril(torch.ones(size, size, device=device)).bool()


def create_target_mask(tgt: Tensor, pad_idx: int = 0) -> Tensor:
    T = tgt.size(1)
    causal = create_look_ahead_mask(T, tgt.device).view(1, 1, T, T)
    return causal & create_padding_mask(tgt, pad_idx)
