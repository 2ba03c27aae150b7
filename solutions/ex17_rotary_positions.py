# %% [markdown]
# # ex17: rotary positions
#
# In ex02 a position is a vector that is added to a token. Rotary positions add nothing. They turn
# the queries and keys of attention, by an angle that grows with the position. The dot product of
# two turned vectors depends on the angle between them. So a score depends on the distance between
# two tokens, not on where they are.
#
# The $K$ features of a vector $x$ are cut into $K/2$ pairs of neighbours. Pair $i$ is a point in a
# plane, and the position $p$ turns it by the angle $a$:
#
# $$a = p \cdot \theta^{-2i/K} \qquad
# y_{2i} = x_{2i} \cos a - x_{2i+1} \sin a \qquad
# y_{2i+1} = x_{2i} \sin a + x_{2i+1} \cos a$$
#
# Pairs, features and positions count from 0, so $i = 0 \ldots K/2 - 1$. Pair 0 turns by one radian
# per position. The last pair is the slowest. The base $\theta$ is 10000 in the paper, and larger in
# models for long texts. Position 0 changes nothing. A rotation never changes the length of a
# vector.
#
# Source: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021, arXiv
# 2104.09864), section 3.2.2, equations 14 and 15, and section 3.4.2, equation 34.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (..., T, K) | vectors at T positions, often (B, H, T, K): queries or keys |
# | `token_positions` | (T,) or (B, T) | the position of each vector; None is 0 ... T - 1 |
# | angles | (T, K/2) or (B, T, K/2) | one for each position and pair |
# | result | (..., T, K) | in the dtype of `x` |
#
# Positions of shape (B, T) differ from sentence to sentence, and all heads of a sentence share
# them. So their angles need a head axis if `x` is (B, H, T, K).
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`torch.arange(a, b, step)`] | the numbers from `a` up to `b`, without `b`; also takes `dtype` and `device` |
# | [`torch.outer(a, b)`] | the products of each number of `a` with each number of `b`, as a matrix |
# | [`torch.cos(x)`], [`torch.sin(x)`] | cosine and sine of every element, in radians |
# | [`self.register_buffer(name, x, persistent)`] | a tensor that moves with the module, saved only if persistent |
# | [`table[positions]`][indexing] | the rows of a table at these positions |
# | [`x[..., 0::2]`][indexing] | every second feature, from feature 0 on |
# | [`torch.stack(tensors, dim)`] | joins tensors along a new axis |
# | [`x.flatten(start_dim)`] | joins all axes from `start_dim` on into one |
#
# [`torch.arange(a, b, step)`]: https://docs.pytorch.org/docs/stable/generated/torch.arange.html
# [`torch.outer(a, b)`]: https://docs.pytorch.org/docs/stable/generated/torch.outer.html
# [`torch.cos(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.cos.html
# [`torch.sin(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.sin.html
# [`self.register_buffer(name, x, persistent)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer
# [indexing]: https://numpy.org/doc/stable/user/basics.indexing.html
# [`torch.stack(tensors, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.stack.html
# [`x.flatten(start_dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.flatten.html
#
# An example with K = 4 and $\theta$ = 100: the pairs turn by $100^0 = 1$ and $100^{-2/4} = 0.1$ per
# position. The vector x = (1, 0, 3, 4) has the pairs (1, 0) and (3, 4).
#
# | p | first angle | second angle | result |
# |---|---|---|---|
# | 0 | 0 | 0 | (1, 0, 3, 4) |
# | 1 | 1 | 0.1 | (0.5403, 0.8415, 2.5857, 4.2795) |
# | 2 | 2 | 0.2 | (-0.4161, 0.9093, 2.1455, 4.5163) |
#
# The score of x at position 0 with x at position 2 is their dot product. It is -0.416 + 6.437 +
# 18.065 = 24.086. At the positions 5 and 7 the score is the same.
#
# **Half precision.** In bfloat16 the position 1999 becomes 2000, and a frequency is off by up to
# 0.2 %. At position 2000 such an angle is wrong. So compute angles in float32 at least, also after
# `module.bfloat16()`, which casts every buffer. Cosines and sines may be cast: they are at most 1.
#
# **Another convention.** GPT-NeoX and Hugging Face pair feature $i$ with feature $i + K/2$: the
# halves of a vector. This course pairs neighbours, as the paper and Meta's Llama code do. Both are
# the same up to the order of the features. But weights made for one are wrong for the other, until
# their rows are put in order (ex23). Do not mix the two.

# %%
import torch
from torch import Tensor, nn


# %%
class RotaryPositionalEmbedding(nn.Module):
    """Turn each pair of neighbouring features by an angle that grows with the position (Su et al., equation 34).

    It has no parameters. Tables, if any, are buffers with `persistent=False`, so that nothing is saved.
    """

    def __init__(self, theta: float, d_k: int, max_seq_len: int) -> None:
        """Raise ValueError with `d_k` if it is odd."""
        super().__init__()
        # TODO ex17: raise the error if d_k is odd, else prepare the cosines and sines of `max_seq_len` positions
        ### BEGIN SOLUTION
        if d_k % 2:
            raise ValueError(f"{d_k} features cannot be cut into pairs")
        self.max_seq_len = max_seq_len
        frequencies = theta ** (-torch.arange(0, d_k, 2, dtype=torch.float32) / d_k)  # (K / 2,)
        angles = torch.outer(torch.arange(max_seq_len, dtype=torch.float32), frequencies)  # (N, K / 2)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        ### END SOLUTION

    def forward(self, x: Tensor, token_positions: Tensor | None = None) -> Tensor:
        """Turn x (..., T, K) into (..., T, K), in the dtype of x.

        `token_positions` is Long, (T,) or (B, T), where B may be 1. None means 0 ... T - 1. Raise ValueError with the
        position and `max_seq_len` if a position is `max_seq_len` or more.
        """
        # TODO ex17: look up the cosines and sines of all positions, raise the error, then turn every pair
        ### BEGIN SOLUTION
        if token_positions is None:
            token_positions = torch.arange(x.size(-2), device=x.device)  # (T,)
        if token_positions.numel() and token_positions.max() >= self.max_seq_len:
            raise ValueError(f"position {int(token_positions.max())}, but the table has {self.max_seq_len} positions")
        cos, sin = self.cos[token_positions].to(x.dtype), self.sin[token_positions].to(x.dtype)  # (..., T, K / 2)
        while 2 < cos.dim() < x.dim():  # all heads share the positions (B, T)
            cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)  # (B, 1, T, K / 2)
        even, odd = x[..., 0::2], x[..., 1::2]  # (..., T, K / 2)
        turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)  # (..., T, K / 2, 2)
        return turned.flatten(-2)  # (..., T, K)
        ### END SOLUTION


# %% [markdown]
# ## Try
#
# Turn one vector of 64 random features to all positions up to 500. Plot its dot product with itself
# at position 0. Do this for $\theta$ = 100, 10000 and 1000000. How does the base change the curve,
# and what does that mean for tokens that are far apart?
