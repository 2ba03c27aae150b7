"""Masks, with the triangle sliced from one cached per device."""

import torch
from torch import Tensor

_triangles: dict[torch.device, Tensor] = {}


def cached_triangle(size: int, device: torch.device | str | None = None) -> Tensor:
    """Return a read-only view (size, size) of a triangle."""
    device = torch.empty(0, device=device).device
    if device not in _triangles or _triangles[device].size(0) < size:
        with torch.inference_mode(False):
            _triangles[device] = torch.ones(2 * size, 2 * size, dtype=torch.bool, device=device).tril()
    return _triangles[device][:size, :size]


def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    return seq.ne(pad_idx).unsqueeze(1).unsqueeze(1)


def create_look_ahead_mask(size: int, device: torch.device | str | None = None) -> Tensor:
    return cached_triangle(size, device).clone()


def create_target_mask(tgt: Tensor, pad_idx: int = 0) -> Tensor:
    return create_padding_mask(tgt, pad_idx).logical_and(cached_triangle(tgt.size(-1), tgt.device))
