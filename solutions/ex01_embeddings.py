# %% [markdown]
# # ex01: token embeddings
#
# A Transformer computes with vectors, but a text is a list of token ids. An embedding is a table
# $E$ of shape (V, D). It has one row of $D = d_{model}$ trained numbers for each of the $V$ tokens.
# The vector of a token is the row of its id:
#
# $$\mathrm{InputEmbeddings}(ids)_{b,t} = \sqrt{d_{model}} \; E_{ids_{b,t}}$$
#
# Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.4: "In the embedding layers,
# we multiply those weights by $\sqrt{d_{model}}$." In the paper, the same table also turns the last
# vectors into logits. Its numbers should be small for that, about $1/\sqrt{d_{model}}$. The factor
# brings a row back to numbers of about 1. The positional encoding, which is added next, has the
# same size.
#
# | name | shape | what it is |
# |---|---|---|
# | `ids` | (B, T) | token ids, Long, from 0 to V - 1 |
# | `embedding.weight` | (V, D) | the table |
# | result | (B, T, D) | one vector for each token |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`nn.Module`] | the base class: `model(x)` calls `model.forward(x)`; layers in attributes are trained |
# | [`nn.Embedding(n, d)`] | a table of `n` rows of `d` trained numbers; call it with ids to get their rows |
# | [`math.sqrt(x)`] | the square root of a plain number; `tensor * number` multiplies every element |
#
# [`nn.Module`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
# [`nn.Embedding(n, d)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html
# [`math.sqrt(x)`]: https://docs.python.org/3/library/math.html#math.sqrt
#
# **In every exercise**, the docstrings are the contract: names, shapes and errors. The checks rely
# on it. Helper functions and other attributes are up to you. Do not write into an argument. Make
# each new tensor on the device of the arguments. If you combine it with vectors, give it their
# dtype.
#
# An example with V = 3, D = 4 and this table:
#
# | id | row |
# |---|---|
# | 0 | 0.10, -0.20, 0.30, 0.40 |
# | 1 | -0.50, 0.60, 0.70, -0.80 |
# | 2 | 0.90, 0.25, -0.15, 0.05 |
#
# The sentence `[[2, 0]]` selects row 2, then row 0. Multiplied by $\sqrt{4} = 2$, the result is
# `[[[1.80, 0.50, -0.30, 0.10], [0.20, -0.40, 0.60, 0.80]]]`, of shape (1, 2, 4).

# %%
import math

from torch import Tensor, nn


# %%
class InputEmbeddings(nn.Module):
    """Look up token ids in a trained table of shape (V, D) and scale the rows by sqrt(D) (Vaswani et al., 3.4).

    Attributes:
        embedding: the table, an `nn.Embedding` of shape (V, D). V is `vocab_size`, D is `d_model`.
    """

    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        # TODO ex01: create the table as `self.embedding`, and store what `forward` needs
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.scale = math.sqrt(d_model)
        ### END SOLUTION

    def forward(self, ids: Tensor) -> Tensor:
        """Turn Long ids (B, T) into vectors (B, T, D)."""
        # TODO ex01: look up the ids and scale the rows
        ### BEGIN SOLUTION
        rows = self.embedding(ids)  # (B, T, D)
        return rows * self.scale  # (B, T, D)
        ### END SOLUTION


# %% [markdown]
# ## Try
#
# Make `InputEmbeddings(512, 1000)` and look up 100 ids. Compare the standard deviation of the
# result with that of a positional encoding, whose numbers lie between -1 and 1. `nn.Embedding`
# starts with numbers of standard deviation 1, not $1/\sqrt{512}$. How large is a position compared
# with a token in each of the two cases?
