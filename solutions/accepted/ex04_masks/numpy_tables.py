# Make the tables with NumPy and move them to the device.
import numpy as np
import torch
from torch import Tensor


def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    real = seq.cpu().numpy() != pad_idx
    return torch.from_numpy(real[:, np.newaxis, np.newaxis]).to(seq.device)


def create_look_ahead_mask(size: int, device: torch.device | str | None = None) -> Tensor:
    mask = torch.from_numpy(np.tri(size, dtype=bool))
    return mask if device is None else mask.to(device)


def create_target_mask(tgt: Tensor, pad_idx: int = 0) -> Tensor:
    return torch.logical_and(create_padding_mask(tgt, pad_idx), create_look_ahead_mask(tgt.shape[-1], tgt.device))
