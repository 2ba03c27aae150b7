# %% [markdown]
# # Part 3: layer normalization
#
# Deep networks train better when the numbers that flow through them keep their size. Layer normalization takes each
# vector by itself, shifts it to mean 0, scales it to variance 1, and lets the network choose another scale and shift
# for each feature:
#
# $$\mathrm{LayerNorm}(x) = \alpha \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta \qquad
# \mu = \frac{1}{D} \sum_{j=1}^{D} x_j \qquad \sigma^2 = \frac{1}{D} \sum_{j=1}^{D} (x_j - \mu)^2$$
#
# Source: Ba, Kiros and Hinton, "Layer Normalization" (2016), equations 3 and 4, where $\alpha$ and $\beta$ are called
# gain and bias. $\varepsilon$ is a small constant that implementations add; it keeps the division finite when all
# features of a vector are equal. The sum is divided by $D$, not by $D - 1$: this is the variance of these very numbers,
# not an estimate from a sample of them.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (..., D) | vectors of D features, with any axes before them |
# | `alpha`, `bias` | (D,) | the trained scale and shift, ones and zeros at first |
# | mean, variance | (..., 1) | one of each for every vector |
# | result | (..., D) | |
#
# An example with D = 4, x = (1, 2, 4, 5) and a negligible $\varepsilon$: the mean is 3, the variance
# (4 + 1 + 1 + 4) / 4 = 2.5 and its root 1.5811. So x becomes (-2, -1, 1, 2) / 1.5811 = (-1.2649, -0.6325, 0.6325,
# 1.2649). With alpha = (1, 2, 1, 0.5) and bias = (0, 0, 1, 1) the result is (-1.2649, -1.2649, 1.6325, 1.6325).

# %%
import torch
from torch import Tensor, nn


# %%
class LayerNormalization(nn.Module):
    """Normalize each vector over its last axis, then scale and shift each feature (Ba et al., equations 3 and 4)."""

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        # TODO ex03: keep eps, and make the trained scale `self.alpha` (ones) and shift `self.bias` (zeros)
        raise NotImplementedError("ex03: LayerNormalization.__init__")

    def forward(self, x: Tensor) -> Tensor:
        """Turn x (..., D) into (..., D)."""
        # TODO ex03: the mean and the variance of each vector, then the formula
        raise NotImplementedError("ex03: LayerNormalization.forward")


# %% [markdown]
# **Try:** feed `x`, `10 * x` and `x + 10` to a fresh layer and compare the results. Then do it again with `x` a
# thousand times smaller. From which size on does the result change, and which number of the formula decides it?
