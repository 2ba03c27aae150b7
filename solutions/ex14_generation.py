# %% [markdown]
# # ex14: generation
#
# A trained model gives the probabilities of the next token. A loop turns these into text. It calls
# the model with the text so far, chooses a token, appends it, and repeats this. Both models of the
# course generate in this way. The language model (ex11) continues a prompt. The Transformer (ex10)
# continues `<SOS>` and also reads a source sentence.
#
# **Choosing.** *Greedy* generation always takes the likeliest token. This is the safe choice, but
# the text soon repeats itself. Random choice among all tokens gives varied text. But sometimes it
# takes an unlikely word that does not fit, and all later words build on it. Three settings lie
# between these two ways. They change the logits $z$ of a position in this order:
#
# | setting | what it does |
# |---|---|
# | `temperature` $\tau$ | the probabilities are $\mathrm{softmax}(z / \tau)$: below 1 sharper, above 1 flatter |
# | `top_k` $k$ | keeps the $k$ likeliest tokens |
# | `top_p` $p$ | keeps the *nucleus*: the fewest likeliest tokens whose probabilities sum to $p$ or more |
#
# (Fan et al. 2018, "Hierarchical Neural Story Generation", section 5.4, for `top_k`; Holtzman et
# al. 2020, "The Curious Case of Neural Text Degeneration", section 3.1, for `top_p`.) Temperature 0
# means the arg-max. After each filter, the probabilities of the kept tokens are divided by their
# sum (*renormalized*). So they sum to 1 again. In the end, one token is drawn. The token that
# brings the sum up to $p$ belongs to the nucleus. Without it the set would not reach $p$. If one
# token alone reaches $p$, the set would even be empty.
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`x.sort(dim)`], [`x.gather(dim, ids)`] | the values in order and their old indices; the elements at given indices |
# | [`x.cumsum(dim)`] | the running sum along an axis |
# | [`torch.multinomial(p, n)`] | draws `n` indices per row with probabilities `p`; takes a `generator` |
# | [`x.argmax(dim)`] | the index of the largest element along an axis |
# | [`torch.cat(tensors, dim)`] | joins tensors along an axis |
# | [`torch.no_grad()`], [`model.eval()`] | compute no gradients inside `with`; switch dropout off |
#
# [`x.sort(dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.sort.html
# [`x.gather(dim, ids)`]: https://docs.pytorch.org/docs/stable/generated/torch.gather.html
# [`x.cumsum(dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.cumsum.html
# [`torch.multinomial(p, n)`]: https://docs.pytorch.org/docs/stable/generated/torch.multinomial.html
# [`x.argmax(dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.argmax.html
# [`torch.cat(tensors, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.cat.html
# [`torch.no_grad()`]: https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html
# [`model.eval()`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.eval
#
# **Stopping.** The rows of a batch end at different times. A row that has generated `<EOS>` is
# padded with `<PAD>` while the others continue. The loop stops when all rows have ended. Two public
# tutorials call `.item()` on the next token instead, so they can generate only one row. In one of
# them the loop also has no limit. It calls the model with the whole text, and crashes when the text
# is longer than the position table. Pass only the last `seq_len` tokens, as many as the table has
# rows. Then the text can grow, and the model only forgets its beginning.
#
# **Inference.** During generation the model is in eval mode (no dropout), and no gradients are
# computed. The caller may continue to train afterwards, so restore the mode of the model.

# %% [markdown]
# ## Five tokens
#
# ```text
#   logits                               3      2      1      0     -1
#   softmax                            0.636  0.234  0.086  0.032  0.012
#   softmax at temperature 2           0.429  0.260  0.158  0.096  0.058
#   softmax at temperature 0.5         0.865  0.117  0.016  0.002  0.000
#
#   cumulative (temperature 1)         0.636  0.871  0.957  0.988  1.000
#   kept by top_p = 0.9                  x      x      x           0.871 is below 0.9, 0.957 is not
#
#   renormalized after top_k = 3       0.665  0.245  0.090
#   cumulative                         0.665  0.910  1.000
#   kept by top_p = 0.9 after top_k      x      x
#   probabilities of the draw          0.731  0.269
# ```
#
# The order matters: `top_p` applies to the tokens left by `top_k`. Of these three, the first two
# have 0.91 of the probability, so the third is removed.

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

    Temperature 0 is arg-max. top_k keeps exactly k tokens, or all if k is above V. Of these, top_p keeps the smallest
    set whose probability reaches p, at least one. If there is a generator, all randomness comes from it.
    """
    # TODO ex14: arg-max at temperature 0. Otherwise divide by the temperature, keep the k likeliest tokens, then the
    # nucleus of p, and draw one token per row. Do not write into the logits.
    ### BEGIN SOLUTION
    if temperature == 0:
        return logits.argmax(dim=-1)
    scores, ids = torch.sort(logits / temperature, dim=-1, descending=True)  # (B, V) both, the likeliest first
    if top_k is not None:
        scores = scores[:, :top_k]  # (B, k)
    probabilities = torch.softmax(scores, dim=-1)  # (B, k)
    if top_p is not None and top_p < 1:
        before = probabilities.cumsum(dim=-1) - probabilities  # (B, k), what the likelier ones have together
        beyond = before >= top_p
        beyond[:, 0] = False
        probabilities = probabilities.masked_fill(beyond, 0.0)
    places = torch.multinomial(probabilities, 1, generator=generator)  # (B, 1), counted from the likeliest
    return ids.gather(-1, places).squeeze(-1)
    ### END SOLUTION


# %% [markdown]
# ## The language model continues a text
#
# `generate` calls the model with the text so far and takes the logits of the last position. They
# predict the next token. The other positions predict tokens that are already there.


# %%
### BEGIN SOLUTION
@contextmanager
def in_use(model: nn.Module) -> Iterator[None]:
    """Run the block in eval mode and without gradients, then restore the mode of the model."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)


### END SOLUTION
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
    """Return the prompt (B, T) and the generated tokens: Long (B, at most T + max_new_tokens).

    A row that has generated eos_idx is padded with pad_idx. Generation stops when every row has ended. The model gets
    only the last tokens, as many as its position table has rows.
    """
    # TODO ex14: in eval mode and without gradients, pass the last tokens, sample from the last position, append. Keep
    # track of the rows that have ended. Restore the mode of the model.
    ### BEGIN SOLUTION
    ids = prompt  # (B, T)
    window = model.positional_encoding.pe.size(1)
    ended = torch.zeros_like(ids[:, 0], dtype=torch.bool)  # (B,)
    with in_use(model):
        for _ in range(max_new_tokens):
            logits = model(ids[:, -window:])[:, -1]  # (B, V)
            tokens = sample_next(logits, temperature, top_k, top_p, generator)  # (B,)
            tokens = tokens.masked_fill(ended, pad_idx)
            ids = torch.cat([ids, tokens.unsqueeze(1)], dim=1)  # (B, T + 1)
            if eos_idx is not None:
                ended = ended | (tokens == eos_idx)
                if ended.all():
                    break
    return ids
    ### END SOLUTION


# %% [markdown]
# ## The Transformer translates
#
# The source does not change while the target grows, so the encoder runs once. In each step the
# decoder reads the same encoder output again. The masks are those of ex10: they hide padding and
# later tokens. The decoder always gets the whole text. A translation longer than the position table
# raises the error of ex02.


# %%
def greedy_translate(
    model: nn.Module, src: Tensor, max_len: int, sos_idx: int = 1, eos_idx: int = 2, pad_idx: int = 0
) -> Tensor:
    """Translate src (B, S) greedily, word by word: Long (B, at most max_len), starting with sos_idx.

    A row that has generated eos_idx is padded with pad_idx. Generation stops when every row has ended.
    """
    # TODO ex14: encode the source once, start every row with <SOS>. Then decode, take the likeliest word of the last
    # position and append it. Use the masks of ex10. Ended rows and the model's mode are as in generate.
    ### BEGIN SOLUTION
    src_mask = create_padding_mask(src, pad_idx)  # (B, 1, 1, S)
    ids = torch.full_like(src[:, :1], sos_idx)  # (B, 1)
    ended = torch.zeros_like(src[:, 0], dtype=torch.bool)  # (B,)
    with in_use(model):
        memory = model.encoder(src, src_mask)  # (B, S, D)
        while ids.size(1) < max_len and not ended.all():
            decoded = model.decoder(ids, memory, src_mask, create_target_mask(ids, pad_idx))  # (B, T, D)
            words = model.output_projection(decoded[:, -1]).argmax(dim=-1)  # (B,)
            words = words.masked_fill(ended, pad_idx)
            ids = torch.cat([ids, words.unsqueeze(1)], dim=1)  # (B, T + 1)
            ended = ended | (words == eos_idx)
    return ids
    ### END SOLUTION


# %% [markdown]
# ## For bonus points: beam search
#
# Greedy search cannot change a word that it has chosen. Suppose that the words A, B, C and D can
# follow `<SOS>` and each other with these probabilities:
#
# ```text
#   <SOS>   A 0.55   B 0.45
#   A       C 0.40   D 0.35   <EOS> 0.25         greedy: A C <EOS>     0.55 · 0.40 · 0.40 = 0.088
#   B       D 0.40   <EOS> 0.60                  best:   B <EOS>       0.45 · 0.60        = 0.270
#   C       A 0.20   B 0.20   D 0.20   <EOS> 0.40
#   D       C 0.05   <EOS> 0.95                  also:   A D <EOS>     0.55 · 0.35 · 0.95 = 0.183
# ```
#
# A *hypothesis* is a translation so far. A beam keeps the `beam_size` best hypotheses, not only
# one. It extends each of them by every word, and keeps the best of the results. Every further word
# makes a hypothesis less probable, so short hypotheses win too often. Therefore the sum of the
# log-probabilities is divided by a length penalty (Wu et al. 2016, "Google's Neural Machine
# Translation System", section 7, equation 14):
#
# $$\mathrm{score}(y) = \frac{\log P(y \mid x)}{\left((5 + L) / 6\right)^{\alpha}}$$
#
# $L$ is the number of words without `<SOS>` and with `<EOS>`, and $\alpha$ is `length_penalty`. The
# log-probabilities of B `<EOS>` and A D `<EOS>` are -1.309 and -1.699. At $\alpha = 0.6$ (Vaswani
# et al. 2017, section 6.1, with a beam of 4) the scores are -1.194 and -1.430, so the short
# hypothesis wins. At $\alpha = 3$ they are -0.825 and -0.717, so the longer one wins.


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
    """Return the best hypothesis for src (1, S), Long (L,) starting with sos_idx, and its score.

    A hypothesis of max_len tokens, sos_idx included, is complete with or without eos_idx at its end.
    """
    # TODO ex14: extend all hypotheses by all words, keep the beam_size best extensions, and collect those
    # that have ended. The best score wins.
    ### BEGIN SOLUTION
    src_mask = create_padding_mask(src)  # (1, 1, 1, S)
    beam = torch.full_like(src[:, :1], sos_idx)  # (N, T), N hypotheses that have not ended; one to begin with
    best, best_score = beam[0], float("-inf")
    with in_use(model):
        memory = model.encoder(src, src_mask)  # (1, S, D)
        sums = torch.zeros(1, device=src.device)  # (N,), of log-probabilities
        while len(beam) > 0 and beam.size(1) < max_len:
            shared = memory.expand(len(beam), -1, -1)  # (N, S, D)
            decoded = model.decoder(beam, shared, src_mask, create_target_mask(beam))  # (N, T, D)
            logits = model.output_projection(decoded[:, -1])  # (N, W)
            totals = (sums.unsqueeze(1) + torch.log_softmax(logits, dim=-1)).flatten()  # (N * W,)
            sums, chosen = totals.topk(min(beam_size, len(totals)))
            parents, words = chosen // logits.size(-1), chosen % logits.size(-1)
            beam = torch.cat([beam[parents], words.unsqueeze(1)], dim=1)  # (N, T + 1)

            length = beam.size(1) - 1
            scores = sums / ((5 + length) / 6) ** length_penalty  # (N,)
            ended = beam[:, -1] == eos_idx  # (N,)
            complete = ended | (beam.size(1) == max_len)
            for ids, score in zip(beam[complete], scores[complete].tolist(), strict=True):
                if score > best_score:
                    best, best_score = ids, score
            beam, sums = beam[~ended], sums[~ended]
    return best, best_score
    ### END SOLUTION


# %% [markdown]
# ## Try
#
# Train the language model of ex11 on a page of text, with the loss of ex13. Let it continue the
# same prompt at temperature 0, 0.7, 1 and 2. Where does the text repeat itself, and where does it
# stop making sense? Then use temperature 1 with a `top_p` of 0.9. Print the number of tokens in the
# nucleus at each step. Where is the model unsure?
