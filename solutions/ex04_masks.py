# %% [markdown]
# # ex04: masks
#
# Attention (ex05) lets every token look at every other token. A mask forbids this in two cases. It
# is a table of True and False, **True where attention is allowed**.
#
# *Padding.* The sentences of a batch have different lengths, so the shorter ones are filled up with
# the token `<PAD>`. No token should look at padding, in the encoder (ex08) or in the decoder
# (ex09).
#
# *The future.* The decoder is trained on all positions of a sentence at once. At each position it
# predicts the next token. If position $t$ could see position $t + 1$, it would see the answer. So
# it may look only at itself and at earlier positions (Vaswani et al. 2017, "Attention Is All You
# Need", section 3.2.3):
#
# $$\mathrm{padding}_{b,s} = [\,\mathrm{id}_{b,s} \ne \mathrm{pad}\,]
# \qquad \mathrm{lookahead}_{t,s} = [\,s \le t\,]
# \qquad \mathrm{target}_{b,t,s} = \mathrm{padding}_{b,s} \wedge \mathrm{lookahead}_{t,s}$$
#
# $[\ldots]$ is True where the condition holds, and $\wedge$ means *and*. In sentence $b$, the token
# $t$ looks (it is the *query*), and the token $s$ is looked at (the *key*).
#
# A mask has the same layout as the scores `(B, H, T, S)` of attention. There are B sentences, H
# heads (ex06), T queries and S keys. For each sentence and head, a row is a query, and a column is
# a key. An axis of size 1 means "the same for all":
#
# | mask | shape | the same for |
# |---|---|---|
# | padding | `(B, 1, 1, S)` | all heads, all queries |
# | look-ahead | `(T, T)` | all sequences, all heads |
# | target, both at once | `(B, 1, T, T)` | all heads |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`a != b`], [`a & b`] | compare two tensors; combine two Bool tensors with *and* |
# | [`x.unsqueeze(i)`] | adds an axis of size 1 at index `i`; `x[:, None]` does so too |
# | [`torch.ones(r, c)`] | `r` rows of `c` ones; True with `dtype=torch.bool`; takes a `device` |
# | [`torch.tril(x)`], [`torch.triu(x)`] | keep what is on and below the diagonal, or on and above it |
# | [`broadcasting`] | combines different shapes: aligned from the right, axes of size 1 stretch |
#
# [`a != b`]: https://docs.pytorch.org/docs/stable/generated/torch.ne.html
# [`a & b`]: https://docs.pytorch.org/docs/stable/generated/torch.logical_and.html
# [`x.unsqueeze(i)`]: https://docs.pytorch.org/docs/stable/generated/torch.unsqueeze.html
# [`torch.ones(r, c)`]: https://docs.pytorch.org/docs/stable/generated/torch.ones.html
# [`torch.tril(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.tril.html
# [`torch.triu(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.triu.html
# [`broadcasting`]: https://docs.pytorch.org/docs/stable/notes/broadcasting.html
#
# Padding blocks *columns*: no token looks at padding. The rows of padding tokens do not matter,
# because nothing reads their result. If you also block a whole row, its token has nothing to look
# at.
#
# Code by other people can differ in three ways:
#
# - Some libraries use the opposite meaning. In `nn.MultiheadAttention` True means blocked.
# - Some use numbers that are added to the scores, 0 and $-\infty$.
# - One public tutorial makes its look-ahead mask on the CPU, whatever the device of the model. On a
#   GPU or another accelerator, combining it with a padding mask fails. Make a new tensor on the
#   device of the tensors you combine it with.

# %% [markdown]
# ## Two sentences
#
# There are four positions, and `<PAD>` is id 0. Sentence 1 is one token shorter than sentence 0.
# `x` is True, `.` is False:
#
# ```text
#   ids               padding         look-ahead      target, sentence 0    target, sentence 1
#   [1 5 9 2]        [x x x x]        [x . . .]           [x . . .]             [x . . .]
#   [1 7 2 0]        [x x x .]        [x x . .]           [x x . .]             [x x . .]
#                                     [x x x .]           [x x x .]             [x x x .]
#                                     [x x x x]           [x x x x]             [x x x .]
# ```
#
# The target masks of the two sentences differ in one entry. In sentence 1, no token can see the
# last token, because that token is padding. Only the last query would have seen it. Of the 16 pairs
# of positions, the target mask allows 10 in sentence 0 and 9 in sentence 1.

# %%
import torch
from torch import Tensor


# %%
def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    """Return Bool (B, 1, 1, S), True at the real tokens of seq, Long (B, S)."""
    # TODO ex04: compare the ids with the padding id, then add an axis for the heads and one for the queries
    ### BEGIN SOLUTION
    return (seq != pad_idx)[:, None, None, :]  # (B, 1, 1, S)
    ### END SOLUTION


# %%
def create_look_ahead_mask(size: int, device: torch.device | str | None = None) -> Tensor:
    """Return Bool (size, size) on a device: True where the key is not later than the query."""
    # TODO ex04: make a triangle of True on the given device
    ### BEGIN SOLUTION
    everywhere = torch.ones(size, size, dtype=torch.bool, device=device)  # (T, T)
    return torch.tril(everywhere)
    ### END SOLUTION


# %%
def create_target_mask(tgt: Tensor, pad_idx: int = 0) -> Tensor:
    """Return Bool (B, 1, T, T) for tgt, Long (B, T): True at real tokens that are not later than the query.

    The mask is on the device of tgt.
    """
    # TODO ex04: make both masks and combine them
    ### BEGIN SOLUTION
    padding = create_padding_mask(tgt, pad_idx)  # (B, 1, 1, T)
    look_ahead = create_look_ahead_mask(tgt.size(1), device=tgt.device)  # (T, T)
    return padding & look_ahead  # (B, 1, T, T)
    ### END SOLUTION


# %% [markdown]
# ## Try
#
# Move the padding of a sentence to its left, and look at the first row of its target mask. In ex05,
# a softmax turns the scores of a row into weights that sum to 1. What can it do with a row in which
# everything is blocked? Your code in ex05 must handle such rows.
