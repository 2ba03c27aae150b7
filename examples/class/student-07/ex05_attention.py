# %% [markdown]
# # ex05: scaled dot-product attention
#
# Attention lets every token collect what it needs from the others. A token asks with its *query*; each token
# answers with a *key*; where query and key agree, much of that token's *value* is taken. All of it is two matrix
# products with a softmax between them (Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1, equation 1):
#
# $$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# | tensor | shape | what a row is |
# |---|---|---|
# | query $Q$ | `(..., T, K)` | what one of `T` positions looks for |
# | key $K$ | `(..., S, K)` | what one of `S` positions offers |
# | value $V$ | `(..., S, Kv)` | what is taken from that position |
# | scores, weights | `(..., T, S)` | how well, and how much, a query attends to each key |
# | output | `(..., T, Kv)` | the mixture of values a query ends up with |
#
# **Why divide.** A score is a sum of $d_k$ products. If the numbers in query and key have variance 1, the sum has
# variance $d_k$. Divided by $\sqrt{d_k}$ it has variance 1 again, whatever the size, so the softmax is neither flat nor
# a hard choice without gradient (the same section, footnote 4).
#
# **Masks.** A mask is True where attention is allowed. Elsewhere the weight has to be 0, and the rest of the row still
# has to add up to 1, so the score is replaced *before* the softmax by one that no other score can reach. Two traps:
# `-1e9` does not fit into float16, whose lowest number is -65504, and a row of nothing but `-inf` has a softmax of 0/0.
#
# A mask broadcasts to the scores. A mask `(B, T, S)` for scores `(B, H, T, S)` gets an axis for the heads: broadcasting
# lines axes up from the right, and would take its batch for the heads.

# %% [markdown]
# ## Three tokens, by hand
#
# Three tokens of three features, and three matrices that make queries and keys of size $d_k = 4$ and values of size 2:
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
# Each query meets each key. The first query with the third key: 1·2 + 0·1 + 2·1 + 1·2 = 6. Divided by √4 = 2 that is
# the score 3.0. In each row of scores `exp` makes everything positive, and division by the row's sum makes it add up
# to 1. The numbers are computed with all their digits and shown with three decimals at most.
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
# With a causal mask (a token sees itself and what came before) the first row of weights is `[1 0 0]`, the second is
# softmax of (1, 0): `[0.731 0.269 0]`, and the last stays as it is. The outputs are `[1 3]`, `[2.345 2.193]` and, as
# before, `[3.587 2.579]`.

# %%
import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

# %% [markdown]
# First the computation as on paper: one sequence, every step kept. The softmax is worth writing out once. `exp` of a
# large score overflows, so subtract the row's largest score first; the weights stay what they were, because numerator
# and denominator shrink by the same factor.


# %%
class AttentionSteps(NamedTuple):
    """What is on the paper once self-attention has been computed by hand."""

    queries: Tensor  # (T, K)
    keys: Tensor  # (T, K)
    values: Tensor  # (T, Kv)
    scores: Tensor  # (T, T), already divided by the square root of K
    weights: Tensor  # (T, T)
    output: Tensor  # (T, Kv)


def self_attention_by_hand(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> AttentionSteps:
    """Return every step of self-attention over one sequence.

    x (T, D_in), w_q and w_k (D_in, K), w_v (D_in, Kv). The sequence plays all three parts: it asks, answers and gives.
    """
    # TODO ex05: one line for each of the six fields, in their order. No mask, no batch, no modules.
    raise NotImplementedError("ex05: self_attention_by_hand")


# %% [markdown]
# Then the function that the rest of the course calls. It works on any number of leading axes at once, which is what
# lets multi-head attention (ex06) call it once for all heads of all sequences.


# %%
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, dropout: nn.Module | None = None
) -> tuple[Tensor, Tensor]:
    """Return the output (..., T, Kv) and the weights (..., T, S) of equation 1.

    query (..., T, K), key (..., S, K), value (..., S, Kv). The mask is Bool, True where attention is allowed, and
    broadcasts to the scores; one of three axes gets a head axis where the scores have four. The dropout acts on the
    weights that meet the values, not on those returned. A row with nothing to attend to stays finite.
    """
    # TODO ex05: scores, mask, softmax, dropout, values, in this order. Whatever the dtype of the query, stay in it.
    raise NotImplementedError("ex05: scaled_dot_product_attention")


# %% [markdown]
# ## Try
#
# Give every query and key 512 features from a normal distribution and look at the largest weight of each row, with the
# division and without it. Then take the gradient of one output with respect to the scores in both cases: which of the
# two models could still learn?
