# Rows and groups one after the other, as in a C kernel.
import torch


def quantize_int8(weight):
    codes, scales = [], []
    for row in weight.to(torch.float32):
        largest = max(row.max(), -row.min())
        scale = largest / 127 if largest > 0 else torch.ones_like(largest)
        codes.append((row / scale).round().clamp(-127, 127).to(torch.int8))
        scales.append(scale.reshape(1))
    return torch.stack(codes), torch.stack(scales)


def one_group(w):
    nothing = torch.zeros_like(w[0])
    bottom, top = torch.minimum(w.min(), nothing), torch.maximum(w.max(), nothing)
    if bottom == top:
        return torch.zeros_like(w), nothing + 1, nothing
    d = (top - bottom) / 15
    z = (bottom / d).round().neg()
    return (w / d).round().add(z).clamp(0, 15), d, z


def quantize_int4(weight, group_size):
    rows, width = weight.shape
    if width % group_size != 0:
        raise ValueError(f"group_size {group_size} does not divide {width}")
    q, d, z = [], [], []
    for row in weight:
        for piece in row.float().split(group_size):
            one = one_group(piece)
            q.append(one[0])
            d.append(one[1])
            z.append(one[2])
    n = width // group_size
    return (
        torch.cat(q).view(rows, width).byte(),
        torch.stack(d).view(rows, n),
        torch.stack(z).view(rows, n).byte(),
    )


def dequantize(codes, scale, zero_point=None):
    n = scale.shape[1]
    size = codes.shape[1] // n
    columns = []
    for g in range(n):
        part = codes[:, g * size : (g + 1) * size].to(torch.int16)
        if zero_point is not None:
            part = part - zero_point[:, g : g + 1].to(torch.int16)
        columns.append(part * scale[:, g : g + 1])
    return torch.cat(columns, dim=1)


def pack_int4(codes):
    out = []
    count = codes.shape[-1]
    for j in range(0, count, 2):
        byte = codes[..., j]
        if j + 1 < count:
            byte = byte + codes[..., j + 1] * 16
        out.append(byte)
    return torch.stack(out, dim=-1)


def unpack_int4(packed, length):
    out = []
    for i in range(length):
        byte = packed[..., i // 2]
        out.append(byte % 16 if i % 2 == 0 else byte // 16)
    return torch.stack(out, dim=-1)


def int4_matmul(x, packed, scale, zero_point):
    total = x.new_zeros(*x.shape[:-1], packed.shape[0], dtype=torch.float32)
    for o in range(packed.shape[0]):
        w = dequantize(unpack_int4(packed[o][None], x.shape[-1]), scale[o][None], zero_point[o][None])[0]
        total[..., o] = (x.float() * w).sum(-1)
    return total.to(x.dtype)
