# %% [markdown]
# # ex06: multi-head attention
#
# One attention gives every token one mixture of the others. A sentence needs several at once: what the verb's subject
# is, what a pronoun stands for, what stands next to it. So the model is cut into $H$ *heads* of $K = D / H$ features;
# each head attends on its own, and a last projection mixes what they found (Vaswani et al. 2017, section 3.2.2):
#
# $$\mathrm{MultiHead}(Q, K, V) = \mathrm{Concat}(\mathrm{head}_0, \ldots, \mathrm{head}_{H-1}) W^O, \qquad
# \mathrm{head}_h = \mathrm{Attention}(Q W^Q_h, K W^K_h, V W^V_h)$$
#
# The $H$ small matrices $W^Q_h$ of shape $D \times K$ stand side by side in one `nn.Linear(D, D)`: **head `h` owns the
# columns `h*K` to `(h+1)*K - 1`** of what it returns. So one product serves all heads, at the cost of a rearrangement:
#
# | step | shape |
# |---|---|
# | project | `(B, T, D)` |
# | cut the features into heads | `(B, T, H, K)` |
# | bring the heads beside the batch | `(B, H, T, K)` |
# | attend, each head on its own | `(B, H, T, K)`, weights `(B, H, T, S)` |
# | bring the heads back beside their features | `(B, T, H, K)` |
# | put the heads side by side | `(B, T, D)` |
# | mix | `(B, T, D)` |
#
# `view` and `reshape` only cut the row of numbers in memory anew; they never move a number past another. Exchanging two
# axes is `transpose`. A `view` where a `transpose` belongs gives the right shape with the wrong numbers in it.
#
# Keys and values may come from another sequence than the queries, of another length: that is how a decoder looks at
# the encoder (ex09).

# %% [markdown]
# ## One token through two heads
#
# $D = 4$, $H = 2$, so $K = 2$. Two tokens, and projections that change nothing (identity matrices):
#
# ```text
#   x           head 0 (columns 0, 1)    head 1 (columns 2, 3)
#   [1 0 2 0]          [1 0]                    [2 0]
#   [0 1 2 2]          [0 1]                    [2 2]
#
#   scores of token 0    [1 0] / √2 = [0.707 0.000]       [4 4] / √2 = [2.828 2.828]
#   weights              [0.670 0.330]                    [0.500 0.500]
#   output               [0.670 0.330]                    [2.000 1.000]
#
#   side by side         [0.670 0.330 2.000 1.000]
# ```
#
# Head 0 looks twice as much at its own token as at the other; head 1, at the same time, looks at both alike. One
# attention over all four features would have one pair of weights for everything: scores [5 4] / √4, so
# [0.622 0.378].

# %%
from ex05_attention import scaled_dot_product_attention
from torch import Tensor, nn


# %%
class MultiHeadAttention(nn.Module):
    """Attention in `num_heads` heads at once, each on its own d_model / num_heads features (section 3.2.2).

    After a call `attention_weights` holds the weights of all heads, (B, H, T, S), without their gradient.
    """

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.attention_weights: Tensor | None = None
        # TODO ex06: raise ValueError with both numbers where the features cannot be shared out evenly; then make
        # w_q, w_k, w_v, w_o and dropout, as the contract names them.
        raise NotImplementedError("ex06: MultiHeadAttention.__init__")

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return (B, T, D) for query (B, T, D), key and value (B, S, D); mask as in ex05."""
        # TODO ex06: project, cut into heads, attend, put the heads side by side, mix. Keep the weights, detached.
        raise NotImplementedError("ex06: MultiHeadAttention.forward")


# %% [markdown]
# ## Try
#
# Shuffle the heads: permute the blocks of K rows of `w_q`, `w_k` and `w_v` alike, and the blocks of K columns of `w_o`
# the same way. The output stays what it was, `attention_weights` does not. Why can no loss tell which head is which?
