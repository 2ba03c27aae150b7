# %% [markdown]
# # ex07: feed-forward network
#
# Attention moves information between tokens, but computes little with this information. After
# attention, a small network of two layers processes each token separately. It uses the same weights
# for all tokens (Vaswani et al. 2017, "Attention Is All You Need", section 3.3, equation 2):
#
# $$\mathrm{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2$$
#
# $W_1$ and $b_1$ are the weight and the bias of the first layer, $W_2$ and $b_2$ those of the
# second.
#
# | step | shape | what it does |
# |---|---|---|
# | input $x$ | `(..., D)` | one vector of D features for each token |
# | `linear_1` | `(..., F)` | computes F hidden features, one per row of its weight; F is `d_ff` |
# | ReLU | `(..., F)` | keeps the positive features and makes the others 0 |
# | dropout | `(..., F)` | in training, sets some of the features to 0 |
# | `linear_2` | `(..., D)` | sums F vectors of D features, each multiplied by one hidden feature |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`nn.Linear(m, n)`] | a trained layer from `m` to `n` features, with a bias unless `bias=False` |
# | [`torch.relu(x)`] | makes every negative element 0 |
# | [`nn.Dropout(p)`] | in training, sets elements to 0 with probability `p`, and scales up the others |
#
# [`nn.Linear(m, n)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html
# [`torch.relu(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.relu.html
# [`nn.Dropout(p)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout.html
#
# **Why an activation.** Two linear layers in a row are one linear layer:
# $(x W_1 + b_1) W_2 + b_2 = x (W_1 W_2) + (b_1 W_2 + b_2)$. With the ReLU between them, the network
# can compute more than one matrix can.
#
# **Why wide.** The paper uses D = 512 and F = 2048. Two matrices of 512 times 2048 numbers and two
# biases are 2,099,712 numbers. The attention of the same block trains about half as many (ex06).
#
# The dropout between the layers is not in equation 2. Common implementations add it, and so does
# this course. Nothing else belongs in this network. One public tutorial also creates a layer norm
# here and never uses it. The result is right, but the model has parameters that never get a
# gradient. The layer norm (ex03) comes after this network, in the encoder block (ex08).

# %% [markdown]
# ## Three tokens, in numbers
#
# Here D = 2 and F = 3. `nn.Linear` stores its weight with one row per output feature, so it is the
# transpose of $W_1$ or $W_2$:
#
# ```text
#   linear_1.weight   bias       linear_2.weight   bias
#      [1  0]        [ 0 ]         [1 2 -1]       [0.5]
#      [0  1]        [-1 ]         [0 1  1]       [ 0 ]
#      [1 -1]        [0.5]
#
#      x           linear_1             ReLU            linear_2
#   [ 2 1]     [ 2  0  1.5]       [2 0 1.5]           [1.0 1.5]
#   [-1 3]     [-1  2 -3.5]       [0 2 0  ]           [4.5 2.0]
#   [ 1 4]     [ 1  3 -2.5]       [1 3 0  ]           [7.5 3.0]
# ```
#
# The third token is the sum of the first two. Its output is not the sum of their outputs, even
# without the biases. The first output of the first token is 1.0 = 1·2 + 2·0 - 1·1.5 + 0.5.

# %%
import torch
from torch import Tensor, nn


# %%
class FeedForwardNetwork(nn.Module):
    """Two linear layers with a ReLU between them, applied to each token separately (equation 2).

    Attributes:
        linear_1: `nn.Linear` from D to F with a bias. D is `d_model`, F is `d_ff`.
        linear_2: `nn.Linear` from F to D with a bias.
        dropout: `nn.Dropout`. It acts on the hidden features, after the ReLU.
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        # TODO ex07: create linear_1, linear_2 and dropout.
        raise NotImplementedError("ex07: FeedForwardNetwork.__init__")

    def forward(self, x: Tensor) -> Tensor:
        """Turn x (..., D) into (..., D)."""
        # TODO ex07: apply the first layer, the activation, the dropout and the second layer.
        raise NotImplementedError("ex07: FeedForwardNetwork.forward")


# %% [markdown]
# ## Try
#
# Give a new network the tokens of a sentence in another order. What happens to the output? Then
# remove the ReLU. From the four parameters, compute the one matrix and the one bias that do the
# same.
