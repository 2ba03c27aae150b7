# %% [markdown]
# # ex07: feed-forward network
#
# Attention moves information between tokens; it mixes values but hardly computes with them. What a token has collected
# is then worked on by a small network of two layers, each token by itself, all of them with the same weights (Vaswani
# et al. 2017, "Attention Is All You Need", section 3.3, equation 2):
#
# $$\mathrm{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2$$
#
# | step | shape | what it does |
# |---|---|---|
# | input $x$ | `(..., D)` | one vector of D features for each token |
# | `linear_1` | `(..., F)` | asks F questions of the token, one for each row of its weight; F is `d_ff` |
# | ReLU | `(..., F)` | keeps the positive answers and makes the others 0 |
# | dropout | `(..., F)` | in training, silences some of the answers |
# | `linear_2` | `(..., D)` | adds up a vector of D features for each answer, as strong as the answer is |
#
# **Why an activation.** Two linear layers in a row are one linear layer: $W_2 (W_1 x + b_1) + b_2 = (W_2 W_1) x + (W_2
# b_1 + b_2)$. The ReLU between them is what makes the network more than a matrix.
#
# **Why wide.** The paper has D = 512 and F = 2048. Two matrices of 512 times 2048 and two biases are 2,099,712 numbers,
# twice as many as the attention of the same block (ex06) trains.
#
# The dropout between the layers is not in equation 2; common implementations add it, and so do we. Nothing else belongs
# in this part. One public tutorial makes a layer norm in here as well and never uses it: nothing looks wrong, but the
# model has parameters that no gradient ever reaches. The layer norm of the block (ex03) is outside, after the residual.

# %% [markdown]
# ## Two tokens, in numbers
#
# D = 2 and F = 3. As `nn.Linear` stores them, the weights have one row for each feature they make:
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
# The third token is the sum of the first two, its output is not the sum of theirs, not even without the biases. For the
# first token 1.0 = 1·2 + 2·0 - 1·1.5 + 0.5.

# %%
import torch
from torch import Tensor, nn


# %%
class FeedForwardNetwork(nn.Module):
    """Two linear layers with a ReLU between them, applied to each token by itself (equation 2)."""

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        # TODO ex07: make linear_1 and linear_2, both with a bias, and dropout.
        raise NotImplementedError("ex07: FeedForwardNetwork.__init__")

    def forward(self, x: Tensor) -> Tensor:
        """Turn x (..., D) into (..., D)."""
        # TODO ex07: the first layer, the activation, the dropout, the second layer.
        raise NotImplementedError("ex07: FeedForwardNetwork.forward")


# %% [markdown]
# ## Try
#
# Give a fresh network the tokens of a sentence in another order: what happens to the output? Then take the ReLU away
# and find, from the four parameters, the single matrix and the single bias that do the same.
