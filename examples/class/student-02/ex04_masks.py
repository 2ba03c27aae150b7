# Part 4: masks

from typing import Optional, Union

import torch
from torch import Tensor


def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    # True where there is a real token -> (batch, seq_len)
    mask = seq != pad_idx
    # one dimension for the heads, one for the queries -> (batch, 1, 1, seq_len)
    return mask.unsqueeze(1).unsqueeze(2)


def create_look_ahead_mask(size: int, device: Optional[Union[torch.device, str]] = None) -> Tensor:
    # ones above the diagonal, this is the future
    future = torch.triu(torch.ones(size, size, device=device), diagonal=1)
    # we need the opposite
    return future == 0


def create_target_mask(tgt: Tensor, pad_idx: int = 0) -> Tensor:
    padding_mask = create_padding_mask(tgt, pad_idx)  # (batch, 1, 1, seq_len)
    look_ahead_mask = create_look_ahead_mask(tgt.shape[1], device=tgt.device)  # (seq_len, seq_len)
    # both must be True -> (batch, 1, seq_len, seq_len)
    return padding_mask & look_ahead_mask
