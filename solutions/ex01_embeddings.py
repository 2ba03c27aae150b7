# %% [markdown]
# # ex01: token embeddings
#
# A text is cut into *tokens*: words or pieces of words. Each of the $V$ tokens that a model knows
# has a number, its *id*. But a Transformer computes with vectors. An embedding is a table $E$ of
# shape (V, D). It has one row of $D = d_{model}$ trained numbers for each token. The vector of a
# token is the row of its id:
#
# $$\mathrm{InputEmbeddings}(ids)_{b,t} = \sqrt{d_{model}} \; E_{ids_{b,t}}$$
#
# Here $b$ counts the sentences of a batch, and $t$ the tokens of a sentence.
#
# Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.4: "In the embedding layers,
# we multiply those weights by $\sqrt{d_{model}}$." In the paper, the same table also turns the last
# vectors into scores for the next token. For that, its numbers should be small, about
# $1/\sqrt{d_{model}}$. The factor $\sqrt{d_{model}}$ brings them back to about 1. The positional
# encoding (ex02), which is added next, has numbers of about the same size.
#
# | name | shape | what it is |
# |---|---|---|
# | `ids` | (B, T) | ids of B sentences of T tokens each: `torch.long`, from 0 to V - 1 |
# | `embedding.weight` | (V, D) | the table |
# | result | (B, T, D) | one vector for each token |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`nn.Module`] | base class: `model(x)` calls `model.forward(x)`; layers stored in attributes are trained |
# | [`nn.Embedding(n, d)`] | a table of `n` rows of `d` trained numbers; call it with ids to get their rows |
# | [`math.sqrt(x)`] | the square root of a plain number; `tensor * number` multiplies every element |
#
# [`nn.Module`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
# [`nn.Embedding(n, d)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html
# [`math.sqrt(x)`]: https://docs.python.org/3/library/math.html#math.sqrt
#
# **In every exercise**, the docstrings are the contract: names, shapes and errors. The checks rely
# on this contract. Helper functions and other attributes are up to you. Do not write into an
# argument. Make each new tensor on the device of the arguments, the CPU or a GPU. If you combine a
# new tensor with vectors, give it their dtype.
#
# An example with V = 3, D = 4 and this table:
#
# | id | row |
# |---|---|
# | 0 | 0.10, -0.20, 0.30, 0.40 |
# | 1 | -0.50, 0.60, 0.70, -0.80 |
# | 2 | 0.90, 0.25, -0.15, 0.05 |
#
# The ids `[[2, 0]]` are a batch of one sentence. They select row 2, then row 0. Multiplied by
# $\sqrt{4} = 2$, the result is `[[[1.80, 0.50, -0.30, 0.10], [0.20, -0.40, 0.60, 0.80]]]`, of shape
# (1, 2, 4).

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
# starts with numbers of standard deviation 1. How large are the numbers of a token, compared with
# those of a position? How large would they be with a start of $1/\sqrt{512}$?
