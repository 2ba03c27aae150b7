# %% [markdown]
# # ex06: multi-head attention
#
# One attention gives every token one weighted sum of all tokens. A token may need several sums at
# once. For example, a verb needs its subject, its object and the word before it. So the $D$
# features are split into $H$ *heads* of $K = D / H$ features each. Each head attends separately,
# and a last linear layer mixes their results (Vaswani et al. 2017, section 3.2.2):
#
# $$\mathrm{MultiHead}(Q, K, V) = \mathrm{Concat}(\mathrm{head}_0, \ldots, \mathrm{head}_{H-1}) W^O,
# \qquad \mathrm{head}_h = \mathrm{Attention}(Q W^Q_h, K W^K_h, V W^V_h)$$
#
# $Q$, $K$ and $V$ are the query, key and value of the whole attention. $W^O$ is the matrix of the
# last layer. In shapes, `K` is the number of features per head, not the matrix $K$.
#
# The $H$ small matrices $W^Q_h$ of shape `(D, K)` are stored side by side in one layer,
# `nn.Linear(D, D)`. $W^K_h$ and $W^V_h$ have such a layer each. **Head `h` owns the columns `h*K`
# to `(h+1)*K - 1`** of the layer's output. So one product serves all heads, but you must rearrange
# the axes:
#
# | step | shape |
# |---|---|
# | project | `(B, T, D)` |
# | split the features into heads | `(B, T, H, K)` |
# | move the head axis next to the batch axis | `(B, H, T, K)` |
# | attend, each head separately | `(B, H, T, K)`, weights `(B, H, T, S)` |
# | move the head axis back, next to the features | `(B, T, H, K)` |
# | concatenate the heads | `(B, T, D)` |
# | mix | `(B, T, D)` |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`nn.Linear(m, n)`] | a trained layer from `m` to `n` features, with a bias unless `bias=False` |
# | [`x.view(*sizes)`] | divides the same numbers into axes of these sizes, in the same order |
# | [`x.transpose(i, j)`] | swaps two axes, and so the order of the numbers |
# | [`x.flatten(i)`] | joins the axes from `i` on into one |
# | [`x.detach()`] | the same numbers, without the history that gradients need |
# | [`nn.Dropout(p)`] | in training, sets elements to 0 with probability `p`, and scales up the others |
#
# [`nn.Linear(m, n)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html
# [`x.view(*sizes)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html
# [`x.transpose(i, j)`]: https://docs.pytorch.org/docs/stable/generated/torch.transpose.html
# [`x.flatten(i)`]: https://docs.pytorch.org/docs/stable/generated/torch.flatten.html
# [`x.detach()`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html
# [`nn.Dropout(p)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout.html
#
# `view` and `reshape` only divide the same numbers into axes of other sizes. They never change the
# order of the numbers. `transpose` swaps two axes. A `view` in place of a `transpose` gives the
# right shape with the wrong numbers. After a `transpose`, `view` often raises an error. `reshape`
# and `flatten` copy the numbers if necessary.
#
# Keys and values may come from a different sequence than the queries, with another length. The
# decoder reads the output of the encoder this way (ex09).

# %% [markdown]
# ## One token through two heads
#
# Here $D = 4$ and $H = 2$, so $K = 2$. There are two tokens, and the projections change nothing
# (identity matrices):
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
#   concatenated         [0.670 0.330 2.000 1.000]
# ```
#
# Head 0 gives token 0 about twice as much weight as token 1. At the same time, head 1 gives both
# tokens the same weight. One attention over all four features would have only one pair of weights
# for all of them. Its scores are [5 4] / √4, so its weights are [0.622 0.378].

# %%
from ex05_attention import scaled_dot_product_attention
from torch import Tensor, nn


# %%
class MultiHeadAttention(nn.Module):
    """Attention in `num_heads` heads at once, each with its own d_model / num_heads features (section 3.2.2).

    Attributes:
        w_q, w_k, w_v: the projections of query, key and value, each an `nn.Linear` from D to D without a bias.
        w_o: the last projection, an `nn.Linear` from D to D with a bias.
        dropout: `nn.Dropout`. It acts on the weights (ex05), not on the output.
        attention_weights: the weights of the last call, (B, H, T, S), before dropout and detached.

    Not allowed: `nn.MultiheadAttention`, `F.scaled_dot_product_attention` and every other attention of the library.
    """

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.attention_weights: Tensor | None = None
        # TODO ex06: raise ValueError with both numbers if num_heads does not divide d_model. Then create
        # w_q, w_k, w_v, w_o and dropout.
        raise NotImplementedError("ex06: MultiHeadAttention.__init__")

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return (B, T, D) for query (B, T, D), key and value (B, S, D); mask as in ex05."""
        # TODO ex06: project, split into heads, attend, concatenate the heads, mix. Store the detached weights.
        raise NotImplementedError("ex06: MultiHeadAttention.forward")


# %% [markdown]
# ## Try
#
# Put the heads in another order. Permute the blocks of K rows of `w_q.weight`, `w_k.weight` and
# `w_v.weight` in the same way. Permute the blocks of K columns of `w_o.weight` too. The output does
# not change, but the heads of `attention_weights` do. Why does the loss not depend on the order of
# the heads?
