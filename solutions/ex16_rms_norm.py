# %% [markdown]
# # ex16: RMS normalization
#
# Layer normalization (ex03) shifts each vector to mean 0 and scales it to variance 1. The models of
# part two leave out the shift. They only bring each vector to one length, by its root mean square:
#
# $$\mathrm{RMSNorm}(x) = \frac{x}{\sqrt{\frac{1}{D} \sum_{j=1}^{D} x_j^2 + \varepsilon}} \odot g$$
#
# $D$ is the number of features of a vector $x$. The scale $g$ has one number per feature and is
# learned; $\odot$ multiplies feature by feature. $\varepsilon$ is a small constant that keeps the
# division finite when all features are 0. There is no mean to subtract, and no bias to add. So
# `10 * x` gives the same result as `x`, as in ex03, but `x + 10` does not.
#
# Source: Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019, arXiv 1910.07467),
# section 4, equation 4. The equation has no $\varepsilon$. PyTorch and Llama add it under the root,
# and so does this course.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (..., D) | vectors of D features, with any axes before them |
# | `weight` | (D,) | the trained scale $g$, initially ones |
# | mean square | (..., 1) | one for every vector, in float32 or float64 |
# | result | (..., D) | in the dtype of `x` |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`nn.Parameter(x)`] | a tensor that is trained, if you assign it to an attribute |
# | [`torch.ones(n)`] | `n` ones |
# | [`x.pow(2)`] | the square of every element |
# | [`x.mean(dim, keepdim)`] | the mean over an axis; with `keepdim=True` the axis stays, with size 1 |
# | [`torch.sqrt(x)`], [`torch.rsqrt(x)`] | the square root of every element, and 1 divided by it |
# | [`x.to(dtype)`] | `x` in another dtype; `x.dtype` is the one it has |
# | [`torch.promote_types(a, b)`] | the smallest dtype that holds both: float32 for float16 and float32 |
#
# [`nn.Parameter(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html
# [`torch.ones(n)`]: https://docs.pytorch.org/docs/stable/generated/torch.ones.html
# [`x.pow(2)`]: https://docs.pytorch.org/docs/stable/generated/torch.pow.html
# [`x.mean(dim, keepdim)`]: https://docs.pytorch.org/docs/stable/generated/torch.mean.html
# [`torch.sqrt(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.sqrt.html
# [`torch.rsqrt(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.rsqrt.html
# [`x.to(dtype)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html
# [`torch.promote_types(a, b)`]: https://docs.pytorch.org/docs/stable/generated/torch.promote_types.html
#
# An example with D = 4, x = (1, -1, 3, 5) and a negligible $\varepsilon$. The squares are 1, 1, 9
# and 25. Their mean is 9, and its root is 3. So x becomes (0.3333, -0.3333, 1, 1.6667). With the
# weight (1, 2, 1, 0.5) the result is (0.3333, -0.6667, 1, 0.8333).
#
# **Half precision.** The largest number in float16 is 65504. The square of 300 is 90000, so it
# becomes infinity, and 300 divided by infinity is 0. The square of 0.0001 is too small for float16
# and becomes 0. So compute the squares and their mean in float32, or in a wider dtype. Then cast
# the result back to the dtype of `x`. You may multiply by `weight` before that cast or after it. A
# float64 input needs no cast.
#
# **Other conventions.** The authors' own PyTorch code adds $\varepsilon$ to the root, not under it.
# Gemma multiplies by `1 + weight`, with a weight that starts at zeros. A weight of one convention
# is wrong in the other.

# %%
import torch
from torch import Tensor, nn


# %%
class RMSNorm(nn.Module):
    """Divide each vector by the root of its mean square, then scale each feature (Zhang and Sennrich, equation 4).

    Attributes:
        weight: the scale, an `nn.Parameter` of shape (D,), initially ones. There is no bias.

    Not allowed: `nn.RMSNorm`, `F.rms_norm` and every other normalization of the library.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        # TODO ex16: store eps, and create the trained scale `self.weight` (ones)
        ### BEGIN SOLUTION
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))  # (D,)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Turn x (..., D) into (..., D), in the dtype of x. `eps` is added to the mean square, under the root.

        The mean square is computed in float32 at least, also if x is float16 or bfloat16.
        """
        # TODO ex16: compute the mean square of each vector in float32 at least, then apply the formula
        ### BEGIN SOLUTION
        wide = x.to(torch.promote_types(x.dtype, torch.float32))  # float64 stays float64
        mean_square = wide.pow(2).mean(dim=-1, keepdim=True)  # (..., 1)
        normal = wide / torch.sqrt(mean_square + self.eps)  # (..., D)
        return (self.weight * normal).to(x.dtype)  # (..., D)
        ### END SOLUTION


# %% [markdown]
# ## Try
#
# Give a new layer a vector of 24 random numbers, and the same vector plus 100. What happens to the
# differences between the features? Compare with your layer normalization of ex03. Then find the
# largest factor by which you can multiply a float16 vector before the result changes.
