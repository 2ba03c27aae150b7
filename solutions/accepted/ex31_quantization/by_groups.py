# The product goes group by group: the zero point needs only the sum of x in the group.
from typing import NamedTuple

import torch
from torch import Tensor


class Grid(NamedTuple):
    """Where the codes of a group lie on the line of numbers."""

    step: Tensor
    zero: Tensor

    @classmethod
    def over(cls, low: Tensor, high: Tensor, top: int) -> "Grid":
        span = high - low
        step = torch.where(span == 0, torch.ones_like(span), span / top)
        return cls(step, torch.round(-low / step))

    def codes(self, weight: Tensor) -> Tensor:
        return torch.round(weight / self.step) + self.zero


def quantize_int8(weight: Tensor) -> tuple[Tensor, Tensor]:
    weight = weight.to(torch.float)
    largest, _ = weight.abs().max(dim=1, keepdim=True)
    grid = Grid.over(torch.zeros_like(largest), largest, 127)
    return grid.codes(weight).char(), grid.step


def quantize_int4(weight: Tensor, group_size: int) -> tuple[Tensor, Tensor, Tensor]:
    if weight.shape[1] % group_size > 0:
        raise ValueError(f"{weight.shape[1]} columns, groups of {group_size}: some columns would be left over")
    cut = weight.to(torch.float).unfold(1, group_size, group_size)
    grid = Grid.over(cut.min(2, True).values.clamp_max(0), cut.max(2, True).values.clamp_min(0), 15)
    codes = grid.codes(cut).clamp_(0, 15)
    return codes.reshape(weight.shape).to(torch.uint8), grid.step[..., 0], grid.zero[..., 0].to(torch.uint8)


def dequantize(codes: Tensor, scale: Tensor, zero_point: Tensor | None = None) -> Tensor:
    where = torch.arange(codes.shape[1], device=codes.device) * scale.shape[1] // codes.shape[1]
    number = codes.to(torch.float)
    if zero_point is not None:
        number -= zero_point.to(torch.float).index_select(1, where)
    return number * scale.index_select(1, where)


def pack_int4(codes: Tensor) -> Tensor:
    missing = codes.shape[-1] % 2
    if missing:
        codes = torch.cat([codes, torch.zeros_like(codes[..., :1])], dim=-1)
    pairs = codes.unflatten(-1, (-1, 2))
    return pairs[..., 0] + pairs[..., 1] * 16


def unpack_int4(packed: Tensor, length: int) -> Tensor:
    both = packed.repeat_interleave(2, dim=-1)[..., :length]
    odd = torch.arange(length, device=packed.device) % 2 == 1
    return torch.where(odd, both >> 4, both & 15)


def int4_matmul(x: Tensor, packed: Tensor, scale: Tensor, zero_point: Tensor) -> Tensor:
    size = x.shape[-1] // scale.shape[1]
    total = 0
    for g in range(scale.shape[1]):
        first, last = g * size, (g + 1) * size
        bytes_of_group = packed[:, first // 2 : (last + 1) // 2]
        codes = unpack_int4(bytes_of_group, last - first // 2 * 2)[:, first % 2 :]
        part = x[..., first:last].float()
        product = part @ codes.float().mT - part.sum(-1, keepdim=True) * zero_point[:, g].float()
        total = total + product * scale[:, g]
    return total.to(x.dtype)
