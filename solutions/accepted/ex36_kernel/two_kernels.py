# Contiguous copies in place of strides, a tile of one row for the softmax, and a kernel of its own for the layer.
import os

os.environ.setdefault("TRITON_INTERPRET", "1")

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_rows(src, dst, n: tl.constexpr, size: tl.constexpr):
    i = tl.program_id(0)
    j = tl.arange(0, size)[None, :]
    block = tl.load(src + i * n + j, mask=j < n, other=float("-inf")).to(tl.float32)
    block = tl.exp2((block - tl.max(block, axis=1, keep_dims=True)) * 1.4426950408889634)
    block = block * (1.0 / tl.sum(block, axis=1, keep_dims=True))
    tl.store(dst + i * n + j, block, mask=j < n)


def softmax(x):
    x = x.contiguous()
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n = x.shape[1]
    size = 1
    while size < n:
        size *= 2
    softmax_rows[(x.shape[0],)](x, out, n=n, size=size)
    return out


@triton.jit
def tile(a, b, i, j, m, n, k, size: tl.constexpr):
    r = i * size + tl.arange(0, size)
    q = j * size + tl.arange(0, size)
    s = tl.zeros([size, size], tl.float32)
    for t in range(tl.cdiv(k, size)):
        p = t * size + tl.arange(0, size)
        x = tl.load(a + r[:, None] * k + p[None, :], mask=(r < m)[:, None] & (p < k)[None, :], other=0)
        y = tl.load(b + p[:, None] * n + q[None, :], mask=(p < k)[:, None] & (q < n)[None, :], other=0)
        s += tl.dot(x.to(tl.float32), y.to(tl.float32))
    return s


@triton.jit
def put(c, s, i, j, m, n, size: tl.constexpr):
    r = i * size + tl.arange(0, size)
    q = j * size + tl.arange(0, size)
    tl.store(c + r[:, None] * n + q[None, :], s, mask=(r < m)[:, None] & (q < n)[None, :])


@triton.jit
def product(a, b, c, m, n, k, size: tl.constexpr):
    i = tl.program_id(1)
    j = tl.program_id(0)
    s = tile(a, b, i, j, m, n, k, size)
    put(c, s, i, j, m, n, size)


@triton.jit
def layer(a, b, bias, c, m, n, k, size: tl.constexpr):
    i = tl.program_id(1)
    j = tl.program_id(0)
    q = j * size + tl.arange(0, size)
    s = tile(a, b, i, j, m, n, k, size) + tl.load(bias + q, mask=q < n, other=0).to(tl.float32)
    put(c, 0.5 * s * (1 + tl.erf(s / 1.4142135623730951)), i, j, m, n, size)


def matmul(a, b, block=16):
    assert_fits(a, b)
    a, b = a.contiguous(), b.contiguous()
    (m, k), n = a.shape, b.shape[1]
    c = torch.zeros(m, n, dtype=a.dtype, device=a.device)
    product[((n + block - 1) // block, (m + block - 1) // block)](a, b, c, m, n, k, size=block)
    return c


def assert_fits(a, b):
    if a.size(1) != b.size(0):
        raise ValueError(f"cannot multiply {tuple(a.shape)} and {tuple(b.shape)}")


def linear_gelu(x, weight, bias, block=16):
    x, turned, bias = x.contiguous(), weight.t().contiguous(), bias.contiguous()
    (m, k), n = x.shape, weight.shape[0]
    c = torch.zeros(m, n, dtype=x.dtype, device=x.device)
    layer[((n + block - 1) // block, (m + block - 1) // block)](x, turned, bias, c, m, n, k, size=block)
    return c
