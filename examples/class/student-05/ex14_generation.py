# %% [markdown]
# # ex14: generation
#
# A trained model gives the probabilities of the next token. Text comes of it by a loop: show the model what there is,
# choose a token, append it, show the model the longer text. Both models of the course write in this way, the language
# model (ex11) by continuing a prompt, the Transformer (ex10) by continuing `<SOS>` with a source sentence in view.
#
# **Choosing.** The likeliest token is the safe choice, and a dull one: greedy text soon goes round in circles. Drawing
# at random from all tokens is lively, but now and then a word comes from the long tail of those that fit badly, and the
# text does not recover from it. Three knobs lie between the two, turned in this order on the logits $z$ of a position:
#
# | knob | what it does |
# |---|---|
# | `temperature` $\tau$ | $p = \mathrm{softmax}(z / \tau)$: below 1 sharper, above 1 flatter, at 0 the arg-max |
# | `top_k` | keeps the $k$ likeliest tokens |
# | `top_p` | keeps the smallest set of the likeliest tokens whose probability is at least $p$, the *nucleus* |
#
# (Fan et al. 2018, "Hierarchical Neural Story Generation", section 5.4, for `top_k`; Holtzman et al. 2020, "The Curious
# Case of Neural Text Degeneration", section 3.1, for `top_p`.) What is kept is renormalized and drawn from. The token
# that brings the sum up to $p$ belongs to the nucleus: without it the set would not reach $p$, and where the model is
# sure of one token it would be empty.
#
# **Stopping.** Rows of a batch end at different times. A row that has produced `<EOS>` is filled up with `<PAD>` while
# the others go on, and the loop ends once all rows have. Two of the public tutorials that this course draws on call
# `.item()` on the next token instead, so they can generate one row only. In one of them the loop has no bound
# either: it shows the model all there is, until the text is longer than the table of positions, and crashes. A language
# model can be shown the last `seq_len` tokens, so its text may grow further. It forgets the beginning, that is all.
#
# **Looking without learning.** A model that is being used is in eval mode (no dropout) and builds no graph for
# gradients. Whoever was training it wants to go on afterwards, so its mode is put back.

# %% [markdown]
# ## Five tokens
#
# ```text
#   logits                               3      2      1      0     -1
#   softmax                            0.636  0.234  0.086  0.032  0.012
#   softmax at temperature 2           0.429  0.260  0.158  0.096  0.058
#   softmax at temperature 0.5         0.865  0.117  0.016  0.002  0.000
#
#   summed up (temperature 1)          0.636  0.871  0.957  0.988  1.000
#   kept by top_p = 0.9                  x      x      x                     0.871 is short of 0.9, 0.957 is not
#
#   renormalized after top_k = 3       0.665  0.245  0.090
#   summed up                          0.665  0.910  1.000
#   kept by top_p = 0.9 after top_k      x      x
#   drawn with                         0.731  0.269
# ```
#
# The order matters: `top_p` is a share of what `top_k` left, and two tokens hold 0.91 of that.

# %%
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from ex04_masks import create_padding_mask, create_target_mask
from torch import Tensor, nn


# %%
def sample_next(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Draw a token for each row of logits (B, V); return Long (B,).

    Temperature 0 is arg-max. top_k keeps exactly k tokens, all where k is beyond V; of these top_p keeps the smallest
    set whose probability reaches p, never fewer than one. All randomness comes from the generator if there is one.
    """
    # TODO ex14: arg-max at temperature 0. Otherwise divide by the temperature, keep the k likeliest, then of these the
    # nucleus of p, and draw one from the rest, in each row for itself. The logits belong to the caller.
    raise NotImplementedError("ex14: sample_next")


# %% [markdown]
# ## The language model goes on
#
# `generate` shows the model the text so far and takes the logits of the last position: they are about the token that
# comes next. The other positions are about tokens that are there already.


# %%
def generate(
    model: nn.Module,
    prompt: Tensor,
    max_new_tokens: int,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    eos_idx: int | None = None,
    pad_idx: int = 0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return the prompt (B, T) and what the language model makes of it: Long (B, at most T + max_new_tokens).

    A row that has generated eos_idx is padded with pad_idx; once every row has, it stops. The model is shown the last
    tokens only, as many as its table of positions has rows.
    """
    # TODO ex14: in eval mode and without gradients: show the last tokens, sample from the last position, append. Keep
    # track of the rows that ended. Leave the model in the mode that it came in.
    raise NotImplementedError("ex14: generate")


# %% [markdown]
# ## The Transformer translates
#
# The source does not change while the target grows, so the encoder runs once. In each step the decoder reads its output
# again. The masks are those of ex10: nobody looks at padding, and no position at a later one. Here there is no window:
# a translation that is longer than the table of positions is refused there (ex02).


# %%
def greedy_translate(
    model: nn.Module, src: Tensor, max_len: int, sos_idx: int = 1, eos_idx: int = 2, pad_idx: int = 0
) -> Tensor:
    """Return the likeliest word after word for src (B, S): Long (B, at most max_len), beginning with sos_idx.

    A row that has generated eos_idx is padded with pad_idx; once every row has, it stops.
    """
    # TODO ex14: encode the source once, start every row with <SOS>, then decode, take the likeliest word of the last
    # position and append it. Mask source and target as ex10 does; the ends and the model's mode are as in generate.
    raise NotImplementedError("ex14: greedy_translate")


# %% [markdown]
# ## For bonus points: beam search
#
# Greedy search cannot take a word back. Let four words follow `<SOS>` and each other with these probabilities:
#
# ```text
#   <SOS>   A 0.55   B 0.45
#   A       C 0.40   D 0.35   <EOS> 0.25         greedy: A C <EOS>     0.55 · 0.40 · 0.40 = 0.088
#   B       D 0.40   <EOS> 0.60                  best:   B <EOS>       0.45 · 0.60        = 0.270
#   C       A 0.20   B 0.20   D 0.20   <EOS> 0.40
#   D       C 0.05   <EOS> 0.95                  also:   A D <EOS>     0.55 · 0.35 · 0.95 = 0.183
# ```
#
# A beam keeps the `beam_size` best beginnings instead of one, extends each by every word, and keeps the best of those.
# Every further word makes a hypothesis less probable, so short ones win too often. Therefore the sum of the logarithms
# is divided by a length penalty (Wu et al. 2016, "Google's Neural Machine Translation System", section 7, equation 14):
#
# $$\mathrm{score}(y) = \frac{\log P(y \mid x)}{\left((5 + L) / 6\right)^{\alpha}}$$
#
# with $L$ the number of words without `<SOS>` and with `<EOS>`. The logarithms of the last two are -1.309 and -1.699.
# At $\alpha = 0.6$ (Vaswani et al. 2017, section 6.1, with a beam of 4) the scores are -1.194 and -1.430, and the short
# one wins; at $\alpha = 3$ they are -0.825 and -0.717, and the longer one does.


# %%
def beam_search(
    model: nn.Module,
    src: Tensor,
    beam_size: int,
    max_len: int,
    length_penalty: float = 0.6,
    sos_idx: int = 1,
    eos_idx: int = 2,
) -> tuple[Tensor, float]:
    """Return the best hypothesis for src (1, S), Long (L,) beginning with sos_idx, and its score.

    One of max_len tokens counts as it is, with or without eos_idx at its end; sos_idx is one of them.
    """
    # TODO ex14: extend all hypotheses by all words, keep the beam_size best of all extensions, and set aside those
    # that ended. The best score wins.
    raise NotImplementedError("ex14: beam_search")


# %% [markdown]
# ## Try
#
# Train the language model of ex11 on a page of text, with the loss of ex13, and let it go on from the same prompt at
# temperature 0, 0.7, 1 and 2. Where does it repeat itself, and where does it stop making sense? Then take temperature 1
# with `top_p` of 0.9, and print how many tokens the nucleus has from step to step: where does the model hesitate?
