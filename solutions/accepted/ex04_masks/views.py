# Every mask is an expanded view without memory. The triangle is a slice of a stored one.
import torch
from torch import Tensor

TRIANGLES: dict[tuple[int, str], Tensor] = {}


def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    real = torch.where(seq == pad_idx, False, True)
    return real[:, None, None].transpose(1, 2)


def create_look_ahead_mask(size: int, device: torch.device | str | None = None) -> Tensor:
    place = torch.device("cpu" if device is None else device)
    key = (size, str(place))
    if key not in TRIANGLES:
        TRIANGLES[key] = torch.tril(torch.ones(2 * size, 2 * size, dtype=torch.bool, device=place))
    return TRIANGLES[key][:size, :size]


def create_target_mask(tgt: Tensor, pad_idx: int = 0) -> Tensor:
    batch, size = tgt.shape
    earlier = create_look_ahead_mask(size, tgt.device).expand(batch, 1, size, size)
    return earlier.minimum(create_padding_mask(tgt, pad_idx))
