# %% [markdown]
# # ex24: online softmax
#
# The attention of ex05 makes a matrix of scores: one number for each query and each key. For a text
# of 32,000 tokens, that is a billion numbers per head. They do not fit into the fast memory of a
# GPU, and moving them costs more time than computing them. *FlashAttention* computes the same
# output in blocks of keys, and never has the whole matrix (Dao et al. 2022, "FlashAttention",
# section 3.1; Dao 2023, "FlashAttention-2", algorithm 1).
#
# The problem is the softmax: its sum needs all scores of a row. The *online softmax* keeps three
# running results for each query, and corrects them with every block:
#
# | name | shape | what it is, for the keys seen so far |
# |---|---|---|
# | $m$ | `(..., T, 1)` | the largest score |
# | $l$ | `(..., T, 1)` | the sum of $e^{s - m}$ over the scores $s$ |
# | $o$ | `(..., T, Kv)` | the sum of $e^{s - m}$ times the values |
#
# Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018), section 3.
#
# For the next block, with scores $s$ of shape `(..., T, block)` and values $v$:
#
# $$m' = \max(m, \max s), \qquad l' = l \, e^{m - m'} + \sum e^{s - m'}, \qquad
# o' = o \, e^{m - m'} + e^{s - m'} v$$
#
# The factor $e^{m - m'}$ is the correction. All earlier terms were computed with the old maximum
# $m$, and must be computed with the new one, $m'$. It is at most 1, because a maximum only grows.
# After the last block:
#
# $$\mathrm{output} = \frac{o}{l}, \qquad \mathrm{logsumexp} = m + \ln l$$
#
# The `logsumexp` of a row is $\ln \sum_s e^s$ over all of its scores. With it, the weight of a key
# is $e^{s - \mathrm{logsumexp}}$. The backward pass of FlashAttention needs only this one number
# per query to compute the weights again, block by block.
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`range(0, S, block_size)`] | the position of the first key of each block |
# | [`key[..., i:j, :]`] | keys `i` to `j - 1`, for all leading axes; a slice past the end is shorter |
# | [`x.amax(dim, keepdim)`] | the largest element along an axis |
# | [`torch.maximum(a, b)`] | the larger of two numbers, for every element |
# | [`torch.exp(x)`], [`torch.log(x)`] | `exp` and natural logarithm of every element |
# | [`x.new_full(shape, number)`] | a new tensor with the dtype and device of `x` |
# | [`torch.arange(a, b, device=...)`] | the whole numbers from `a` to `b - 1` |
# | [`x.masked_fill(m, number)`] | a new tensor with `number` wherever the Bool mask `m` is True |
# | [`torch.promote_types(a, b)`] | the wider of two dtypes |
#
# [`range(0, S, block_size)`]: https://docs.python.org/3/library/stdtypes.html#range
# [`key[..., i:j, :]`]: https://docs.pytorch.org/docs/stable/tensor_view.html
# [`x.amax(dim, keepdim)`]: https://docs.pytorch.org/docs/stable/generated/torch.amax.html
# [`torch.maximum(a, b)`]: https://docs.pytorch.org/docs/stable/generated/torch.maximum.html
# [`torch.exp(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.exp.html
# [`torch.log(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.log.html
# [`x.new_full(shape, number)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.new_full.html
# [`torch.arange(a, b, device=...)`]: https://docs.pytorch.org/docs/stable/generated/torch.arange.html
# [`x.masked_fill(m, number)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill.html
# [`torch.promote_types(a, b)`]: https://docs.pytorch.org/docs/stable/generated/torch.promote_types.html
#
# **Masks, without a mask.** A causal mask for all queries and keys would be a `T × S` tensor again.
# Compare positions instead, one block at a time. There may be fewer queries than keys, for example
# with a cache (ex20). The last query then stands at the last key. Query `i` stands at position
# `S - T + i` and sees the keys up to there. *Other convention*: PyTorch's `is_causal` aligns the
# first query with the first key. For `T = S` the two agree.
#
# **Two traps.** If you mask a key with $-\infty$, a block may have no visible key for a query. Its
# maximum is then $-\infty$, and $-\infty - (-\infty)$ is NaN. The lowest finite number of the dtype
# avoids this. And float16 ends at 65,504, while bfloat16 has only 8 significant bits. A sum of many
# terms is wrong in both. Keep $m$, $l$ and $o$ in float32 at least.

# %% [markdown]
# ## One query and two blocks, by hand
#
# There is one query, and `block_size` is 2. The scores are already divided by $\sqrt{d_k}$. Values
# have two features:
#
# ```text
#   key      1      2   |    3      4
#   score    1      3   |    4      2
#   value  [1 0]  [0 1] |  [2 0]  [0 2]
#
#            m    exp(s - m)      l                          o
#   block 1  3   [0.135 1.000]    1.135                      [0.135 1.000]
#   block 2  4   [1.000 0.135]    1.135 · 0.368 + 1.135      [0.135 · 0.368 + 2, 0.368 + 0.271]
#                                 = 1.553                    = [2.050 0.639]
#
#   output = [2.050 0.639] / 1.553 = [1.320 0.411]       logsumexp = 4 + ln 1.553 = 4.440
# ```
#
# The correction at block 2 is $e^{3-4} = 0.368$. Check it with the whole row: $e^1 + e^3 + e^4 +
# e^2 = 84.8$, and $\ln 84.8 = 4.440$. After block 1 alone, the output is `[0.119 0.881]`, and the
# logsumexp is 3.127.
#
# Two queries with `causal=True` stand at keys 3 and 4. If both have the scores above, the first one
# does not see key 4. Its output is `[1.446 0.259]`, and its logsumexp is 4.349. The second one sees
# everything.

# %%
import math

import torch
from torch import Tensor

# %% [markdown]
# Write a loop over the blocks of keys. All queries go through it together, so a block has `T ×
# block_size` scores. Blocks over queries alone do not help. Each of them would still need the
# scores of its queries for all keys. The checks watch every tensor that your function makes.


# %%
def flash_attention(
    query: Tensor, key: Tensor, value: Tensor, block_size: int, causal: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the output (..., T, Kv) of attention and the natural logsumexp (..., T) of each row of scores.

    query (..., T, K), key (..., S, K), value (..., S, Kv). Scores are divided by the square root of K. The keys are
    taken in blocks of `block_size`; the last block may be shorter. With `causal`, query i stands at position S - T + i
    and attends to the keys up to there. A row with nothing to attend to has a finite output.

    No tensor has T * S elements or more for each leading index, and none has the scores of a query for all S keys.
    Running results are float32 at least; the output has the dtype of the query. A `block_size` below 1 is a ValueError
    with the number.

    Not allowed: `torch.ops`, `F.scaled_dot_product_attention` and every other attention of the library.
    """
    # TODO ex24: go through the blocks of keys with a running maximum, sum and output; divide at the end.
    ### BEGIN SOLUTION
    if block_size < 1:
        raise ValueError(f"block_size must be at least 1, got {block_size}")
    queries, keys = query.size(-2), key.size(-2)
    wide = torch.promote_types(query.dtype, torch.float32)
    scaled = query.to(wide) / math.sqrt(query.size(-1))  # (..., T, K)
    place = torch.arange(keys - queries, keys, device=query.device).unsqueeze(-1)  # (T, 1)
    largest = scaled.new_full((*query.shape[:-1], 1), -math.inf)  # m, (..., T, 1)
    total = torch.zeros_like(largest)  # l, (..., T, 1)
    output = scaled.new_zeros((*query.shape[:-1], value.size(-1)))  # o, (..., T, Kv)
    for start in range(0, keys, block_size):
        stop = min(start + block_size, keys)
        scores = scaled @ key[..., start:stop, :].to(wide).transpose(-2, -1)  # (..., T, block)
        if causal:
            later = torch.arange(start, stop, device=query.device) > place  # (T, block)
            scores = scores.masked_fill(later, torch.finfo(wide).min)
        larger = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        correction = torch.exp(largest - larger)
        powers = torch.exp(scores - larger)
        total = total * correction + powers.sum(dim=-1, keepdim=True)
        output = output * correction + powers @ value[..., start:stop, :].to(wide)
        largest = larger
    logsumexp = (largest + torch.log(total)).squeeze(-1)
    return (output / total).to(query.dtype), logsumexp
    ### END SOLUTION


# %% [markdown]
# ## Try
#
# Compare your function with ex05 on random queries and keys of 64 features, for 256, 1,024 and
# 4,096 tokens. Measure the time of each, and the largest difference of their outputs. Then change
# `block_size` from 16 to 1,024. Which block size is the fastest on your machine? In Python, many
# small blocks are slow. A GPU kernel runs them in parallel and keeps each block in fast memory.
