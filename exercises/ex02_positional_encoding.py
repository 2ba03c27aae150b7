# %% [markdown]
# # ex02: positional encoding
#
# Attention (ex05) ignores order: each word gets the same result, however you shuffle the sentence.
# So each position gets its own vector, which is added to the vector of the token at that position.
# The paper (see the source below) computes this vector from sines and cosines of $D/2$ frequencies,
# where $D = d_{model}$. The highest frequency is one radian per position, and the lowest is a
# little above $1/10000$:
#
# $$PE_{p,\,2i} = \sin\!\left(\frac{p}{10000^{2i/D}}\right) \qquad
# PE_{p,\,2i+1} = \cos\!\left(\frac{p}{10000^{2i/D}}\right)$$
#
# Here $p$ is the position, and $i$ is the number of a pair of columns. Both count from 0. Columns
# $2i$ and $2i + 1$ are a pair with one frequency. As $p$ grows, the point (sine, cosine) turns like
# a clock hand. If $D$ is odd, the last column is a sine without its cosine. Dropout acts on the sum
# of embedding and position (section 5.4).
#
# Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.5.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (B, T, D) | the embedded tokens, T at most `seq_len` |
# | `pe` | (1, seq_len, D) | the table: saved with the model, moved with it, never trained |
# | result | (B, T, D) | `dropout(x + pe[:, :T])` |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`torch.arange(a, b, step)`] | the numbers from `a` up to `b`, without `b`; also takes a `dtype` |
# | [`x.unsqueeze(i)`] | adds an axis of size 1 at index `i`, so that shapes broadcast |
# | [`torch.sin(x)`], [`torch.cos(x)`] | sine and cosine of every element, in radians |
# | [`x[:, 0::2]`][indexing] | every second column, from column 0 on, to read or to assign |
# | [`self.register_buffer(name, x)`] | a tensor that is saved and moved with the module, but not trained |
# | [`nn.Dropout(p)`] | in training, sets elements to 0 with probability `p`, and scales up the others |
#
# [`torch.arange(a, b, step)`]: https://docs.pytorch.org/docs/stable/generated/torch.arange.html
# [`x.unsqueeze(i)`]: https://docs.pytorch.org/docs/stable/generated/torch.unsqueeze.html
# [`torch.sin(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.sin.html
# [`torch.cos(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.cos.html
# [indexing]: https://numpy.org/doc/stable/user/basics.indexing.html
# [`self.register_buffer(name, x)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer
# [`nn.Dropout(p)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout.html
#
# An example with D = 4: the frequencies are $1/10000^{0/4} = 1$ and $1/10000^{2/4} = 0.01$.
#
# | p | sin(p) | cos(p) | sin(0.01 p) | cos(0.01 p) |
# |---|---|---|---|---|
# | 0 | 0.00000 | 1.00000 | 0.00000 | 1.00000 |
# | 1 | 0.84147 | 0.54030 | 0.01000 | 0.99995 |
# | 2 | 0.90930 | -0.41615 | 0.02000 | 0.99980 |
# | 3 | 0.14112 | -0.98999 | 0.03000 | 0.99955 |
#
# The first pair differs clearly between neighbours. The second pair changes slowly: it returns to
# its start after about 628 positions.

# %%
import torch
from torch import Tensor, nn


# %%
def sinusoidal_table(seq_len: int, d_model: int) -> Tensor:
    """Return the table (seq_len, D) of Vaswani et al., section 3.5: sines in even columns, cosines in odd ones."""
    # TODO ex02: compute the angle of each position and frequency, then fill the columns with sines and cosines
    raise NotImplementedError("ex02: sinusoidal_table")


class PositionalEncoding(nn.Module):
    """Add the position of each token to its vector, then apply dropout to the sum (Vaswani et al., 3.5 and 5.4).

    Attributes:
        pe: the table, a buffer of shape (1, seq_len, D) in the state dict. It is not trained.
        dropout: `nn.Dropout` with the given rate.
    """

    def __init__(self, d_model: int, seq_len: int, dropout: float = 0.1) -> None:
        super().__init__()
        # TODO ex02: create `self.dropout`, and register the table as the buffer `pe` of shape (1, seq_len, D)
        raise NotImplementedError("ex02: PositionalEncoding.__init__")

    def forward(self, x: Tensor) -> Tensor:
        """Turn x (B, T, D) into (B, T, D). Raise ValueError with both lengths if T is above `seq_len`."""
        # TODO ex02: raise the error if x is too long, else add the positions of its T tokens and apply dropout
        raise NotImplementedError("ex02: PositionalEncoding.forward")


# %% [markdown]
# ## Try
#
# Make the table for 512 positions and 64 columns. Plot the dot product of row 100 with every other
# row. Then do the same for row 200. Does the dot product depend on the position, or on the distance
# between positions? Which columns make the narrow peak, and which make the broad hill?
