# %% [markdown]
# # ex05: scaled dot-product attention
#
# With attention, every token collects what it needs from the other tokens. A token asks with its
# *query*, and each token answers with a *key*. If a query and a key match, their dot product is
# large. Then the asking token takes much of the other token's *value*. The computation is two
# matrix products with a softmax between them (Vaswani et al. 2017, "Attention Is All You Need",
# section 3.2.1, equation 1):
#
# $$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# | tensor | shape | what a row is |
# |---|---|---|
# | query $Q$ | `(..., T, K)` | what one of `T` positions looks for |
# | key $K$ | `(..., S, K)` | what one of `S` positions offers |
# | value $V$ | `(..., S, Kv)` | what that position gives |
# | scores, weights | `(..., T, S)` | how much a query attends to each key |
# | output | `(..., T, Kv)` | the weighted sum of the values for one query |
#
# In shapes, `K` is a number, not the matrix $K$. It is the size of a query or a key, $d_k$ in the
# formula. `Kv` is the size of a value. `...` stands for any axes before, for example `B` sentences
# and `H` heads.
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`a @ b`] | the matrix product over the last two axes, for all leading axes at once |
# | [`x.transpose(i, j)`] | swaps two axes; -1 is the last axis, -2 the one before |
# | [`torch.softmax(x, dim)`] | turns scores into positive weights that sum to 1 along an axis |
# | [`torch.exp(x)`], [`x.amax(dim, keepdim)`] | `exp` of every element; the largest element along an axis |
# | [`x.masked_fill(m, number)`] | a new tensor with `number` wherever the Bool mask `m` is True |
# | [`torch.finfo(dtype)`] | the limits of a floating dtype: `.min`, `.max`, `.eps` |
#
# [`a @ b`]: https://docs.pytorch.org/docs/stable/generated/torch.matmul.html
# [`x.transpose(i, j)`]: https://docs.pytorch.org/docs/stable/generated/torch.transpose.html
# [`torch.softmax(x, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.softmax.html
# [`torch.exp(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.exp.html
# [`x.amax(dim, keepdim)`]: https://docs.pytorch.org/docs/stable/generated/torch.amax.html
# [`x.masked_fill(m, number)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill.html
# [`torch.finfo(dtype)`]: https://docs.pytorch.org/docs/stable/type_info.html
#
# **Why divide.** A score is a sum of $d_k$ products. If the numbers in query and key are
# independent, with mean 0 and variance 1, the sum has variance $d_k$. Divided by $\sqrt{d_k}$, it
# has variance 1 again, for any $d_k$. Without the division, the scores are large if $d_k$ is large.
# The softmax then gives nearly all weight to one key, and its gradient almost vanishes (same
# section, footnote 4).
#
# **Masks.** A mask is True where attention is allowed. A blocked key must get weight 0, and the
# rest of the row must still sum to 1. So, *before* the softmax, you replace the score of a blocked
# key by a score lower than any other. There are two traps. `-1e9` does not fit into float16, whose
# lowest number is -65504. And the softmax of a row with only `-inf` is 0/0, which is NaN.
#
# A mask broadcasts to the scores. But a mask `(B, T, S)` for scores `(B, H, T, S)` first needs a
# head axis. Broadcasting aligns axes from the right, so it would use the batch axis of the mask as
# the head axis.

# %% [markdown]
# ## Three tokens, by hand
#
# There are three tokens of three features. Three matrices make queries and keys of size $d_k = 4$
# and values of size 2:
#
# ```text
#       x           w_q           w_k          w_v
#   [1 0 1]      [1 0 1 0]     [0 1 0 1]      [1 2]
#   [0 2 0]      [0 1 0 0]     [1 0 0 1]      [3 0]
#   [1 1 1]      [0 0 1 1]     [1 0 1 0]      [0 1]
#
#   queries = x w_q     keys = x w_k     values = x w_v
#     [1 0 2 1]          [1 1 1 1]          [1 3]
#     [0 2 0 0]          [2 0 0 2]          [6 0]
#     [1 1 2 1]          [2 1 1 2]          [4 3]
# ```
#
# Take the dot product of each query with each key. The first query and the third key give 1·2 + 0·1
# + 2·1 + 1·2 = 6. Divided by √4 = 2, this is the score 3.0. In each row of scores, `exp` makes
# every number positive. Division by the sum of the row then makes the row sum to 1. The numbers are
# computed with all their digits and shown with at most three decimals.
#
# ```text
#   queries keysᵀ        scores               exp(scores)         sum           weights
#      [4 4 6]       [2.0 2.0 3.0]     [ 7.389  7.389 20.086]   34.864    [0.212 0.212 0.576]
#      [2 0 2]       [1.0 0.0 1.0]     [ 2.718  1.000  2.718]    6.437    [0.422 0.155 0.422]
#      [5 4 7]       [2.5 2.0 3.5]     [12.182  7.389 33.115]   52.687    [0.231 0.140 0.629]
#
#   output = weights values
#     [3.788 2.364]        3.788 = 0.212·1 + 0.212·6 + 0.576·4
#     [3.044 2.534]
#     [3.587 2.579]
# ```
#
# With a causal mask, another name for the look-ahead mask of ex04, a token sees only itself and
# earlier tokens. The first row of weights is then `[1 0 0]`. The second row is the softmax of (1,
# 0): `[0.731 0.269 0]`. The last row does not change. The outputs are `[1 3]`, `[2.345 2.193]` and,
# as before, `[3.587 2.579]`.

# %%
import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

# %% [markdown]
# First, do the computation as on paper: one sequence, with every step stored. Here, write the
# softmax yourself. `exp` of a large score overflows, so subtract the largest score of the row
# first. The weights do not change, because numerator and denominator shrink by the same factor.


# %%
class AttentionSteps(NamedTuple):
    """All steps of self-attention computed by hand."""

    queries: Tensor  # (T, K)
    keys: Tensor  # (T, K)
    values: Tensor  # (T, Kv)
    scores: Tensor  # (T, T), already divided by the square root of K
    weights: Tensor  # (T, T)
    output: Tensor  # (T, Kv)


def self_attention_by_hand(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> AttentionSteps:
    """Return every step of self-attention over one sequence, without mask, batch and modules.

    x (T, D_in), w_q and w_k (D_in, K), w_v (D_in, Kv). Queries, keys and values come from the same sequence.
    """
    # TODO ex05: compute the six fields of AttentionSteps in their order.
    raise NotImplementedError("ex05: self_attention_by_hand")


# %% [markdown]
# Next, write the function that the rest of the course calls. It works on any number of leading
# axes, the axes before the last two. So multi-head attention (ex06) can call it once for all heads
# of all sequences.


# %%
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, dropout: nn.Module | None = None
) -> tuple[Tensor, Tensor]:
    """Return the output (..., T, Kv) and the weights (..., T, S) of equation 1.

    query (..., T, K), key (..., S, K), value (..., S, Kv). The mask is Bool, True where attention is allowed. It
    broadcasts to the scores; a mask of three axes gets a head axis if the scores have four. Dropout acts on the
    weights that multiply the values, not on the returned weights. A row with nothing to attend to stays finite.

    Not allowed: `F.scaled_dot_product_attention`, `nn.MultiheadAttention` and every other attention of the library.
    """
    # TODO ex05: compute scores, mask, softmax, dropout and values, in this order, in the dtype of the query.
    raise NotImplementedError("ex05: scaled_dot_product_attention")


# %% [markdown]
# ## Try
#
# Draw queries and keys with 512 features from a normal distribution. Look at the largest weight of
# each row, with and without the division. Then compute the gradient of one output with respect to
# the scores in both cases. In which case could a model still learn?
