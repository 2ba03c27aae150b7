# %% [markdown]
# # ex12: batches of sentences
#
# A model computes with ids in a tensor, and all rows of a tensor have the same length. A corpus is
# a collection of sentences, and each sentence has its own number of words. Four small functions
# convert between the two. A fifth, `teacher_forcing`, makes a task from them: which token comes
# next?
#
# | step | from | to |
# |---|---|---|
# | `build_vocab` | sentences | an id for every word |
# | `encode` | words | `<SOS>`, their ids, `<EOS>` |
# | `pad_batch` | lists of ids | one Long tensor `(B, T)`, short rows padded on the right |
# | `teacher_forcing` | targets `(B, T)` | decoder input and labels, both `(B, T-1)` |
# | `decode` | ids | words |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`torch.tensor(rows, dtype, device)`] | makes a tensor from lists of equal length; ids are `torch.long` |
# | [`x[:, a:b]`][indexing] | the columns from `a` up to `b`, without `b`; -1 is the last one |
# | [`d.get(key, default)`] | looks up a key in a dict, with a default if it is missing |
# | [`enumerate(items)`] | pairs of a number, from 0 on, and an item |
#
# [`torch.tensor(rows, dtype, device)`]: https://docs.pytorch.org/docs/stable/generated/torch.tensor.html
# [indexing]: https://numpy.org/doc/stable/user/basics.indexing.html
# [`d.get(key, default)`]: https://docs.python.org/3/library/stdtypes.html#dict.get
# [`enumerate(items)`]: https://docs.python.org/3/library/functions.html#enumerate
#
# The *vocabulary* is a dict from words to ids. **Special tokens** come first in every vocabulary,
# so their ids are always the same. `<PAD>` (0) fills up short rows. `<SOS>` (1) starts a sentence,
# and `<EOS>` (2) ends it. `<UNK>` (3) replaces every word that is not in the vocabulary.
#
# **Teacher forcing** (Williams and Zipser 1989, "A Learning Algorithm for Continually Running Fully
# Recurrent Neural Networks"). When the decoder generates a sentence, its input is its own output so
# far. In training, its input is the beginning of the true sentence. So an early mistake does not
# spoil the rest. All positions learn at once. Position $t$ sees the tokens $y_0 \ldots y_t$, and
# its label is $y_{t+1}$:
#
# $$\mathrm{input}_t = y_t, \qquad \mathrm{label}_t = y_{t+1}, \qquad 0 \le t < T - 1.$$
#
# "The output embeddings are offset by one position", says the paper (Vaswani et al. 2017, section
# 3.1). Without this shift, the task is to repeat the input token. The loss still falls to zero, but
# a model that only copies cannot generate anything.

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
# Read input and labels of the second row, column by column. After `<SOS>` the label is 8 ("a").
# After 8 it is 7 ("dog"), and after 9 ("slept") it is 2, the end. After the end there is padding.
# The input of this row keeps its 2, because you can only remove the last column of all rows
# together. The loss ignores labels that are padding (ex13). So the predictions at these positions
# do not matter.
#
# `encode(["the", "fox", "slept"], vocab)` is `[1, 4, 3, 9, 2]`, and `decode` turns it into "the",
# "`<UNK>`", "slept".

# %%
from collections.abc import Sequence

import torch
from torch import Tensor

SPECIAL_TOKENS = ("<PAD>", "<SOS>", "<EOS>", "<UNK>")  # the index of each is its id

# %% [markdown]
# First, convert words to ids and back. An id is only a name. The model does not care which word has
# which id, but the ids must be the same in every run. So do not number the words of a Python `set`,
# which has no fixed order.


# %%
def build_vocab(sentences: list[list[str]]) -> dict[str, int]:
    """Return an id for every word: the special tokens, then the words in order of first appearance."""
    # TODO ex12: start with the special tokens, then give each new word the next id.
    raise NotImplementedError("ex12: build_vocab")


def encode(tokens: list[str], vocab: dict[str, int]) -> list[int]:
    """Return the ids of a sentence between `<SOS>` and `<EOS>`. Unknown words become `<UNK>`."""
    # TODO ex12: look up one id per word, and add one id before them and one after them.
    raise NotImplementedError("ex12: encode")


def decode(ids: Sequence[int], vocab: dict[str, int]) -> list[str]:
    """Return the words up to the first `<EOS>`, or all if there is none. Of the special tokens, keep only `<UNK>`."""
    # TODO ex12: invert the vocabulary, read up to the end token, and skip `<PAD>` and `<SOS>`.
    raise NotImplementedError("ex12: decode")


# %% [markdown]
# Next, convert lists to tensors. Pad sentences to the longest in their batch, not in the corpus,
# because every column costs time.


# %%
def pad_batch(sequences: list[list[int]], pad_idx: int = 0, device: torch.device | str | None = None) -> Tensor:
    """Return the sequences as the rows of one Long tensor (B, longest), padded on the right with `pad_idx`."""
    # TODO ex12: make new lists, all as long as the longest sequence, and one tensor from them on the device.
    raise NotImplementedError("ex12: pad_batch")


def teacher_forcing(tgt: Tensor) -> tuple[Tensor, Tensor]:
    """Return decoder input and labels, both (B, T-1), for targets (B, T)."""
    # TODO ex12: each label is the token after the input token at the same position.
    raise NotImplementedError("ex12: teacher_forcing")


# %% [markdown]
# ## Try
#
# Take 1,000 sentences of random lengths from 3 to 40 and pad them in batches of 32. Do it once in
# random order and once sorted by length. What share of the ids is padding in each case? What does a
# model miss if its corpus is sorted in the same way in every epoch?
