# %% [markdown]
# # ex03: layer normalization
#
# Deep networks train better when the numbers that pass through them keep their size. Layer
# normalization works on each vector separately. It shifts the vector to mean 0 and scales it to
# variance 1. After that, each feature is multiplied by a scale and gets a shift added. The network
# learns both:
#
# $$\mathrm{LayerNorm}(x) = \alpha \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta
# \qquad \mu = \frac{1}{D} \sum_{j=1}^{D} x_j
# \qquad \sigma^2 = \frac{1}{D} \sum_{j=1}^{D} (x_j - \mu)^2$$
#
# $\mu$ is the mean of the $D$ features of a vector $x$, and $\sigma^2$ is their variance. $\alpha$
# is the scale, $\beta$ is the shift, and $\odot$ multiplies feature by feature. $\varepsilon$ is a
# small constant that implementations add. It keeps the division finite when all features of a
# vector are equal. The sum of squares is divided by $D$, not by $D - 1$. So $\sigma^2$ is the
# variance of exactly these numbers, not an estimate from a sample.
#
# Source: Ba, Kiros and Hinton, "Layer Normalization" (2016), equations 3 and 4, where $\alpha$ and
# $\beta$ are called gain and bias.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (..., D) | vectors of D features, with any axes before them |
# | `alpha`, `bias` | (D,) | the trained scale and shift, initially ones and zeros |
# | mean, variance | (..., 1) | one of each for every vector |
# | result | (..., D) | |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`nn.Parameter(x)`] | a tensor that is trained, if you assign it to an attribute |
# | [`torch.ones(n)`], [`torch.zeros(n)`] | `n` ones, or `n` zeros |
# | [`x.mean(dim, keepdim)`] | the mean over an axis; with `keepdim=True` the axis stays, with size 1 |
# | [`x.var(dim, correction)`] | the variance; divides by the count minus `correction`, which is 1 by default |
# | [`torch.sqrt(x)`] | the square root of every element |
#
# [`nn.Parameter(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html
# [`torch.ones(n)`]: https://docs.pytorch.org/docs/stable/generated/torch.ones.html
# [`torch.zeros(n)`]: https://docs.pytorch.org/docs/stable/generated/torch.zeros.html
# [`x.mean(dim, keepdim)`]: https://docs.pytorch.org/docs/stable/generated/torch.mean.html
# [`x.var(dim, correction)`]: https://docs.pytorch.org/docs/stable/generated/torch.var.html
# [`torch.sqrt(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.sqrt.html
#
# An example with D = 4, x = (1, 2, 4, 5) and a negligible $\varepsilon$. The mean is 3. The
# variance is (4 + 1 + 1 + 4) / 4 = 2.5, and its square root is 1.5811. So x becomes (-2, -1, 1, 2)
# / 1.5811 = (-1.2649, -0.6325, 0.6325, 1.2649). With alpha = (1, 2, 1, 0.5) and bias = (0, 0, 1, 1)
# the result is (-1.2649, -1.2649, 1.6325, 1.6325).

# %%
import torch
from torch import Tensor, nn


# %%
class LayerNormalization(nn.Module):
    """Normalize each vector over its last axis, then scale and shift each feature (Ba et al., equations 3 and 4).

    Attributes:
        alpha, bias: the scale and the shift, each an `nn.Parameter` of shape (D,), initially ones and zeros.

    Not allowed: `nn.LayerNorm`, `F.layer_norm` and every other normalization of the library.
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        # TODO ex03: store eps, and create the trained scale `self.alpha` (ones) and shift `self.bias` (zeros)
        ### BEGIN SOLUTION
        self.eps = eps
        self.alpha = nn.Parameter(torch.ones(d_model))  # (D,)
        self.bias = nn.Parameter(torch.zeros(d_model))  # (D,)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Turn x (..., D) into (..., D). The variance divides by D, and `eps` is added to it under the root."""
        # TODO ex03: compute the mean and the variance of each vector, then apply the formula
        ### BEGIN SOLUTION
        mean = x.mean(dim=-1, keepdim=True)  # (..., 1)
        centred = x - mean  # (..., D)
        variance = centred.pow(2).mean(dim=-1, keepdim=True)  # (..., 1)
        normal = centred / torch.sqrt(variance + self.eps)  # (..., D)
        return self.alpha * normal + self.bias  # (..., D)
        ### END SOLUTION


# %% [markdown]
# ## Try
#
# Call a new layer with `x`, `10 * x` and `x + 10`, and compare the results. Repeat this with an `x`
# that is a thousand times smaller. How small must `x` be for the factor 10 to change the result?
# Which number of the formula causes this?
