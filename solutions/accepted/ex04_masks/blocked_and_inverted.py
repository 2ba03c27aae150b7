# Mark the blocked pairs, combine them with `or`, and invert the result.
import torch
from torch import Tensor


def is_padding(seq: Tensor, pad_idx: int) -> Tensor:
    return (seq == pad_idx).view(seq.size(0), 1, 1, seq.size(1))


def is_later(size: int, device: torch.device | str | None) -> Tensor:
    return torch.triu(torch.ones((size, size), device=device), diagonal=1).bool()


def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    return ~is_padding(seq, pad_idx)


def create_look_ahead_mask(size: int, device: torch.device | str | None = None) -> Tensor:
    return is_later(size, device).logical_not()


def create_target_mask(tgt: Tensor, pad_idx: int = 0) -> Tensor:
    return ~(is_padding(tgt, pad_idx) | is_later(tgt.size(1), tgt.device))
