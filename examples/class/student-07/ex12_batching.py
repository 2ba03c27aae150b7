# %% [markdown]
# # ex12: batches of sentences
#
# A model computes with ids in one rectangle, a corpus is sentences of words, each of its own length. Four small steps
# lead from the one to the other, and a fifth makes an exercise out of a sentence:
#
# | step | from | to |
# |---|---|---|
# | `build_vocab` | sentences | an id for every word |
# | `encode` | words | `<SOS>`, their ids, `<EOS>` |
# | `pad_batch` | lists of ids | one Long tensor `(B, T)`, short rows filled up on the right |
# | `teacher_forcing` | targets `(B, T)` | decoder input and labels, both `(B, T-1)` |
# | `decode` | ids | words again |
#
# **Special tokens** come first in every vocabulary, so their ids are always the same: `<PAD>` 0 fills up, `<SOS>` 1
# starts a sentence, `<EOS>` 2 ends it, `<UNK>` 3 stands for every word that the vocabulary does not know.
#
# **Teacher forcing** (Williams and Zipser 1989, "A Learning Algorithm for Continually Running Fully Recurrent Neural
# Networks"). While a sentence is generated, the decoder sees what it wrote so far. While it learns, it is shown the
# true beginning instead, so that one early mistake does not spoil the rest. All positions are then learned at once: at
# position $t$ the decoder is shown the tokens $y_0 \ldots y_t$ and has to answer $y_{t+1}$,
#
# $$\mathrm{input}_t = y_t, \qquad \mathrm{label}_t = y_{t+1}, \qquad 0 \le t < T - 1.$$
#
# "The output embeddings are offset by one position", says the paper (Vaswani et al. 2017, section 3.1). Without this
# shift the task is to repeat the token that is shown. The loss falls to zero all the same, and a model that learned to
# copy can generate nothing.

# %% [markdown]
# ## Two sentences, by hand
#
# ```text
#   sentences      the cat saw the dog        a dog slept
#
#   vocabulary     <PAD> <SOS> <EOS> <UNK>  the cat saw dog  a  slept
#                    0     1     2     3     4   5   6   7   8    9
#
#   encode         1 4 5 6 4 7 2              1 8 7 9 2
#
#   pad_batch      [[1 4 5 6 4 7 2]
#                   [1 8 7 9 2 0 0]]          B = 2, T = 7
#
#   teacher_forcing
#     input        [[1 4 5 6 4 7]             labels   [[4 5 6 4 7 2]
#                   [1 8 7 9 2 0]]                      [8 7 9 2 0 0]]
# ```
#
# Read the second row down its columns: shown `<SOS>` the answer is 8 ("a"), shown 8 as well it is 7 ("dog"), and after
# 9 ("slept") it is 2, the end. What stands after the end is padding. The input keeps its 2 there: in a rectangle the
# last column can only be cut off for all rows alike. Labels that are padding are left out of the loss (ex13), so it
# does not matter what the decoder makes of them.
#
# `encode(["the", "fox", "slept"], vocab)` is `[1, 4, 3, 9, 2]`, and `decode` makes "the", "`<UNK>`", "slept" of it.

# %%
from collections.abc import Sequence

import torch
from torch import Tensor

SPECIAL_TOKENS = ("<PAD>", "<SOS>", "<EOS>", "<UNK>")  # the place of each is its id

# %% [markdown]
# From words to ids and back. An id is a name, nothing more: which word has which does not matter to the model, as long
# as it is the same in every run, and a set of words has no order to rely on.


# %%
def build_vocab(sentences: list[list[str]]) -> dict[str, int]:
    """Return an id for every word: the special tokens, then the words in order of first appearance."""
    # TODO ex12: begin with the special tokens, and give each word you meet for the first time the next id.
    raise NotImplementedError("ex12: build_vocab")


def encode(tokens: list[str], vocab: dict[str, int]) -> list[int]:
    """Return the ids of a sentence between those of `<SOS>` and `<EOS>`; unknown words are `<UNK>`."""
    # TODO ex12: one id for each word, one before them, one after them.
    raise NotImplementedError("ex12: encode")


def decode(ids: Sequence[int], vocab: dict[str, int]) -> list[str]:
    """Return the words up to the first `<EOS>`, or all where there is none; `<UNK>` is kept, other specials are not."""
    # TODO ex12: turn the vocabulary round, read until the end token, and leave out what is no word.
    raise NotImplementedError("ex12: decode")


# %% [markdown]
# From lists to tensors. Sentences are padded to the longest of their batch, not of the corpus: every column costs time.


# %%
def pad_batch(sequences: list[list[int]], pad_idx: int = 0, device: torch.device | str | None = None) -> Tensor:
    """Return the sequences as the rows of one Long tensor (B, longest), padded on the right with `pad_idx`."""
    # TODO ex12: make all rows as long as the longest, in new lists, and one tensor of them on the device.
    raise NotImplementedError("ex12: pad_batch")


def teacher_forcing(tgt: Tensor) -> tuple[Tensor, Tensor]:
    """Return what the decoder is shown and what it has to answer, both (B, T-1), of targets (B, T)."""
    # TODO ex12: the decoder is never shown the token it has to answer at that position, only those before it.
    raise NotImplementedError("ex12: teacher_forcing")


# %% [markdown]
# ## Try
#
# Take 1,000 sentences of random lengths from 3 to 40 and pad them in batches of 32, once as they come and once sorted
# by length. Which share of the numbers is padding in each case? What would a model miss that sees its corpus sorted in
# the same way in every epoch?
