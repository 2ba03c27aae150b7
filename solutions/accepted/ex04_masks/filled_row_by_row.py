# Fill rows of False with True. Each sentence of the target mask gets its own copy of the triangle.
import torch
from torch import Tensor


def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    mask = torch.zeros(seq.size(0), 1, 1, seq.size(1), dtype=torch.bool, device=seq.device)
    for row, ids in enumerate(seq):
        mask[row, 0, 0, (ids != pad_idx).nonzero().flatten()] = True
    return mask


def create_look_ahead_mask(size: int, device: torch.device | str | None = None) -> Tensor:
    mask = torch.full((size, size), False, device=device)
    for query in range(size):
        mask[query, : query + 1] = True
    return mask


def create_target_mask(tgt: Tensor, pad_idx: int = 0) -> Tensor:
    triangle = create_look_ahead_mask(tgt.size(1)).to(tgt.device)
    mask = triangle.repeat(tgt.size(0), 1, 1, 1)
    mask.masked_fill_(~create_padding_mask(tgt, pad_idx), False)
    return mask
