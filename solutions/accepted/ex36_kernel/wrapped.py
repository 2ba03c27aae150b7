# Loads that begin again at row 0 behind the last one, as Triton's tutorial does, and a softmax in pieces of its row.
import os

os.environ.setdefault("TRITON_INTERPRET", "1")

import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(y, x, y0, y1, x0, x1, n, STEP: tl.constexpr):
    row = tl.program_id(0)
    highest = -float("inf")
    total = 0.0
    for start in range(0, n, STEP):
        at = start + tl.arange(0, STEP)
        piece = tl.load(x + row * x0 + at * x1, mask=at < n, other=-float("inf")).to(tl.float32)
        new = tl.maximum(highest, tl.max(piece, axis=0))
        total = total * tl.exp(highest - new) + tl.sum(tl.exp(piece - new), axis=0)
        highest = new
    for start in range(0, n, STEP):
        at = start + tl.arange(0, STEP)
        piece = tl.load(x + row * x0 + at * x1, mask=at < n, other=-float("inf")).to(tl.float32)
        tl.store(y + row * y0 + at * y1, tl.exp(piece - highest) / total, mask=at < n)


def softmax(x):
    y = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
    row_kernel[(x.shape[0],)](y, x, y.stride(0), y.stride(1), x.stride(0), x.stride(1), x.shape[1], STEP=16)
    return y


@triton.jit
def tile_kernel(out, left, right, bias, M, N, K, o0, o1, l0, l1, r0, r1, SIZE: tl.constexpr, LAYER: tl.constexpr):
    m = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    n = tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    k = tl.arange(0, SIZE)
    tall = left + (m % M)[:, None] * l0 + k[None, :] * l1
    wide = right + k[:, None] * r0 + (n % N)[None, :] * r1
    product = tl.full((SIZE, SIZE), 0, tl.float32)
    for start in range(0, K, SIZE):
        one = tl.load(tall, mask=start + k[None, :] < K, other=0.0)
        other = tl.load(wide, mask=start + k[:, None] < K, other=0.0)
        product = tl.dot(one, other, acc=product)
        tall += SIZE * l1
        wide += SIZE * r0
    if LAYER:
        sums = product + tl.load(bias + n % N).to(tl.float32)[None, :]
        product = sums * (0.5 + 0.5 * tl.erf(sums * 0.7071067811865475))
    tl.store(out + m[:, None] * o0 + n[None, :] * o1, product, mask=(m < M)[:, None] & (n < N)[None, :])


def matmul(a, b, block=16):
    M, K = a.shape
    if b.shape[0] != K:
        raise ValueError(f"K is {K} in a and {b.shape[0]} in b")
    out = a.new_empty(M, b.shape[1])
    tile_kernel[(triton.cdiv(M, block), triton.cdiv(b.shape[1], block))](
        out, a, b, None, M, b.shape[1], K, *out.stride(), *a.stride(), *b.stride(), SIZE=block, LAYER=False
    )
    return out


def linear_gelu(x, weight, bias, block=16):
    M, F = x.shape[0], weight.shape[0]
    out, turned = x.new_empty(M, F), weight.transpose(0, 1)
    tile_kernel[(triton.cdiv(M, block), triton.cdiv(F, block))](
        out, x, turned, bias, M, F, x.shape[1], *out.stride(), *x.stride(), *turned.stride(), SIZE=block, LAYER=True
    )
    return out
