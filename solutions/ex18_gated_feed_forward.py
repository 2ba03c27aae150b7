# %% [markdown]
# # ex18: gated feed-forward network
#
# The network of ex07 computes hidden features and cuts off the negative ones with a ReLU. A gated
# network computes two kinds of hidden features: gates and values. Each gate decides how much of its
# value passes. Llama uses this one, called SwiGLU:
#
# $$\mathrm{SwiGLU}(x) = W_2 \, \big( \mathrm{silu}(W_1 x) \odot W_3 x \big) \qquad
# \mathrm{silu}(z) = z \cdot \sigma(z) = \frac{z}{1 + e^{-z}}$$
#
# $W_1$ makes the gates, $W_3$ makes the values, and $W_2$ goes back to $D$ features. $\odot$
# multiplies feature by feature, and $\sigma$ is the logistic function (sigmoid). silu is also
# called Swish. It is close to a ReLU, but smooth: silu(4) = 3.928, silu(0) = 0 and silu(-4) =
# -0.072. There are no biases.
#
# Source: Shazeer, "GLU Variants Improve Transformer" (2020, arXiv 2002.05202), section 2, equation
# 6, FFN_SwiGLU. The paper calls the matrices $W$, $V$ and $W_2$; the names here are those of Llama.
#
# | step | shape | what it does |
# |---|---|---|
# | input $x$ | `(..., D)` | one vector of D features for each token |
# | `w1`, then silu | `(..., F)` | computes F gates; F is `d_ff` |
# | `w3` | `(..., F)` | computes F values |
# | product | `(..., F)` | each value times its gate |
# | `w2` | `(..., D)` | sums F vectors of D features, each multiplied by one product |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`nn.Linear(m, n, bias)`] | a trained layer from `m` to `n` features, without a bias if `bias=False` |
# | [`nn.functional.silu(x)`] | silu of every element |
# | [`torch.sigmoid(x)`] | the logistic function of every element |
#
# [`nn.Linear(m, n, bias)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html
# [`nn.functional.silu(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.silu.html
# [`torch.sigmoid(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.sigmoid.html
#
# **Large numbers.** Gates of 10000 and of -10000 have finite results. So do gates of 1000 in
# float16. If you write silu yourself, mind `exp`: `exp(10000)` is infinite, and infinity divided by
# infinity is NaN. `torch.sigmoid` has no such problem.
#
# **How wide.** Three matrices have half as many numbers again as two of the same width. So models
# make F smaller, often 2/3 of the usual 4·D. That is a choice of the caller. This class uses `d_ff`
# as it is, and rounds nothing. Meta's Llama code reduces and rounds inside its class.
#
# **Another convention.** GEGLU uses a GELU as its gate. Its weights do not fit SwiGLU.

# %% [markdown]
# ## Two tokens, in numbers
#
# Here D = 2 and F = 3. `nn.Linear` stores its weight with one row per output feature:
#
# ```text
#   w1.weight   w3.weight    w2.weight
#    [ 1  0]     [ 2  0]     [1  2 -1]
#    [ 0 -1]     [ 1  1]     [0  1  1]
#    [ 1  1]     [ 0  1]
#
#     x          w1        silu(w1)          w3          product              w2
#   [2 1]    [2 -1 3]  [1.762 -0.269 2.858]  [4 3 1]   [7.046 -0.807 2.858]  [2.575 2.051]
#   [0 0]    [0  0 0]  [0 0 0]               [0 0 0]   [0 0 0]               [0 0]
# ```
#
# The second gate is negative, so its value passes weakly and with the other sign. A vector of zeros
# stays zeros, because nothing has a bias.

# %%
from torch import Tensor, nn


# %%
class SwiGLU(nn.Module):
    """Multiply each value by its gate, between two linear maps (Shazeer, equation 6, FFN_SwiGLU).

    Attributes:
        w1: `nn.Linear(D, F, bias=False)`, makes the gates.
        w2: `nn.Linear(F, D, bias=False)`, makes the output.
        w3: `nn.Linear(D, F, bias=False)`, makes the values.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        # TODO ex18: create the three layers. F is `d_ff` itself, and no layer has a bias.
        ### BEGIN SOLUTION
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Turn x (..., D) into (..., D)."""
        # TODO ex18: compute the gates with silu, multiply them by the values, and apply the last layer.
        ### BEGIN SOLUTION
        gate = nn.functional.silu(self.w1(x))  # (..., F)
        value = self.w3(x)  # (..., F)
        return self.w2(gate * value)  # (..., D)
        ### END SOLUTION


# %% [markdown]
# ## Try
#
# Replace silu by a sigmoid, by a ReLU and by nothing. Give each network `x`, `2 * x` and `-x`.
# Which of them give the same result for `x` and `-x`? Which give four times as much for `2 * x`?
