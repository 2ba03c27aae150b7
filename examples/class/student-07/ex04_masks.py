# %% [markdown]
# # ex04: masks
#
# Attention lets every token look at every other one. Two kinds of looking have to be ruled out, and a mask says which:
# a table of True and False, **True where attention is allowed**.
#
# *Padding.* Sentences of a batch differ in length, so the shorter ones are filled up with `<PAD>`. No token should
# collect anything from a filler, in the encoder or in the decoder.
#
# *The future.* The decoder is trained on all positions of a sentence at once, to predict the next token at each. If
# position $t$ could see position $t + 1$, the answer would be in front of it. So it may look at itself and backwards
# (Vaswani et al. 2017, "Attention Is All You Need", section 3.2.3):
#
# $$\mathrm{padding}_{b,s} = [\,\mathrm{id}_{b,s} \ne \mathrm{pad}\,] \qquad \mathrm{lookahead}_{t,s} = [\,s \le t\,]
# \qquad \mathrm{target}_{b,t,s} = \mathrm{padding}_{b,s} \wedge \mathrm{lookahead}_{t,s}$$
#
# A mask lies over the scores `(B, H, T, S)`: for each sequence and head, a row for each token that looks (the query)
# and a column for each token that is looked at (the key). An axis of size 1 stands for "the same for all":
#
# | mask | shape | the same for |
# |---|---|---|
# | padding | `(B, 1, 1, S)` | all heads, all queries |
# | look-ahead | `(T, T)` | all sequences, all heads |
# | target, both at once | `(B, 1, T, T)` | all heads |
#
# Padding blocks *columns*: nobody looks at a filler. What a filler itself looks at, its row, is of no interest, because
# nobody reads its result. Blocking its whole row as well would leave it with nothing to attend to.
#
# Three things to know when reading other people's code. Some use the opposite sense: in `nn.MultiheadAttention` True
# means blocked. Some use numbers to be added to the scores, 0 and $-\infty$. And one public tutorial builds its
# look-ahead mask on the CPU whatever the device of the model: on an accelerator, joining it with a padding mask fails.
# A new tensor is made on the device of those that it will meet.

# %% [markdown]
# ## Two sentences
#
# Four positions, `<PAD>` = 0, and the second sentence is one token short. `x` is True, `.` is False:
#
# ```text
#   ids               padding         look-ahead      target, sentence 0    target, sentence 1
#   [1 5 9 2]        [x x x x]        [x . . .]           [x . . .]             [x . . .]
#   [1 7 2 0]        [x x x .]        [x x . .]           [x x . .]             [x x . .]
#                                     [x x x .]           [x x x .]             [x x x .]
#                                     [x x x x]           [x x x x]             [x x x .]
# ```
#
# The masks of the two sentences differ in one place: in sentence 1 the last position does not see the last token,
# which is a filler. Of the 16 pairs of positions the target mask leaves 10 in sentence 0 and 9 in sentence 1.

# %%
import torch
from torch import Tensor


# %%
def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    """Return Bool (B, 1, 1, S), True at the real tokens of seq, Long (B, S)."""
    # TODO ex04: compare the ids with the padding id, and give the result an axis for the heads and one for the queries.
    raise NotImplementedError("ex04: create_padding_mask")


# %%
def create_look_ahead_mask(size: int, device: torch.device | str | None = None) -> Tensor:
    """Return Bool (size, size), True where the key is not later than the query: on and below the diagonal."""
    # TODO ex04: a triangle of True, made on the device that is asked for.
    raise NotImplementedError("ex04: create_look_ahead_mask")


# %%
def create_target_mask(tgt: Tensor, pad_idx: int = 0) -> Tensor:
    """Return Bool (B, 1, T, T) for tgt, Long (B, T): True at real tokens that are not later than the query."""
    # TODO ex04: both masks at once, on the device of tgt.
    raise NotImplementedError("ex04: create_target_mask")


# %% [markdown]
# ## Try
#
# Move the padding of a sentence to its left and look at the first row of its target mask. What is the softmax of a row
# in which everything is blocked? ex05 has to live with such rows.
