# The two nibbles of all bytes are two planes: each is multiplied with its own half of x, a block of rows at a time.
import torch
from torch.nn import functional as F


def quantize_int8(weight):
    w = weight.to(dtype=torch.float32)
    absmax = torch.linalg.vector_norm(w, ord=float("inf"), dim=-1, keepdim=True)
    safe = torch.where(absmax > 0, absmax, torch.full_like(absmax, 127.0))
    return (w * (127 / safe)).round().to(torch.int8), safe / 127


def quantize_int4(weight, group_size):
    outs, ins = weight.shape
    n, rest = divmod(ins, group_size)
    if rest:
        raise ValueError(f"{ins} is no multiple of {group_size=}")
    w = weight.float().reshape(outs * n, group_size)
    w0 = F.pad(w, (0, 1))  # the range contains 0
    lo, hi = torch.aminmax(w0, dim=1)
    s = hi.sub(lo).div(15)
    s = s + (s == 0)
    z = lo.neg().div(s).round()
    q = torch.round(w / s.unsqueeze(1) + z.unsqueeze(1)).clip(0, 15)
    return q.type(torch.uint8).reshape(outs, ins), s.reshape(outs, n), z.type(torch.uint8).reshape(outs, n)


def dequantize(codes, scale, zero_point=None):
    groups = codes.view(codes.size(0), scale.size(1), -1).to(torch.float32)
    offset = 0.0 if zero_point is None else zero_point.unsqueeze(-1).to(torch.float32)
    return ((groups - offset) * scale.unsqueeze(-1)).view(codes.shape)


def pack_int4(codes):
    even, odd = codes[..., ::2], codes[..., 1::2]
    packed = even.clone()
    packed[..., : odd.size(-1)] |= odd.bitwise_left_shift(4)
    return packed


def unpack_int4(packed, length):
    codes = packed.new_empty(*packed.shape[:-1], length)
    codes[..., ::2] = packed.bitwise_and(0x0F)
    codes[..., 1::2] = packed[..., : length // 2].bitwise_right_shift(4)
    return codes


def int4_matmul(x, packed, scale, zero_point):
    width = x.size(-1)
    xs = x.float()
    group = torch.arange(width, device=x.device) // (width // scale.size(1))
    result = []
    for p, s, z in zip(packed.split(4), scale.split(4), zero_point.split(4)):
        low = ((p & 15).float() - z.float()[:, group[0::2]]) * s[:, group[0::2]]
        high = ((p >> 4)[:, : width // 2].float() - z.float()[:, group[1::2]]) * s[:, group[1::2]]
        result.append(xs[..., 0::2] @ low.t() + xs[..., 1::2] @ high.t())
    return torch.cat(result, -1).type_as(x)
