# %% [markdown]
# # ex20: key-value cache
#
# `generate` of ex14 shows the model the whole text in each step. But a token sees only earlier
# tokens, so its keys and values never change. A *key-value cache* stores them. Then each step runs
# the model on the new token alone. The keys and values of the past come from the cache.
#
# A prompt has $T$ tokens, and $n$ tokens are generated. These are the positions shown to the model:
#
# | | each step | in all | $T = 32$, $n = 224$ |
# |---|---|---|---|
# | without a cache | the whole text | $T + (T+1) + \ldots + (T+n-1)$ | 32,144 |
# | with a cache | the prompt once, then one token | $T + n - 1$ | 255 |
#
# The last token is never shown, since nothing comes after it. The cache holds $2 \cdot G \cdot K$
# numbers for each token and layer (ex19). Reading them is now the slow part: a step does little
# arithmetic, but reads the whole cache from memory (Shazeer 2019, "Fast Transformer Decoding: One
# Write-Head is All You Need", section 2.4).
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`x.new_empty(*sizes)`] | a new tensor with the dtype and device of `x`; its numbers are not set |
# | [`x[:, :, a:b] = y`] | writes `y` into a part of `x` |
# | [`torch.cat(tensors, dim)`] | joins tensors along an axis, into new memory |
# | [`torch.no_grad()`], [`model.eval()`] | compute no gradients inside `with`; switch to eval mode |
#
# [`x.new_empty(*sizes)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.new_empty.html
# [`x[:, :, a:b] = y`]: https://docs.pytorch.org/docs/stable/tensor_view.html
# [`torch.cat(tensors, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.cat.html
# [`torch.no_grad()`]: https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html
# [`model.eval()`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.eval
#
# **What is stored.** Each layer has a cache of its own, and each text a new one. The keys are
# rotated already (ex19). There are other conventions. StreamingLLM stores keys that are not
# rotated, and rotates all of them on each read. Hugging Face has one cache object for all layers.
#
# **Two ways to store.** You may reserve memory for `max_len` tokens. Then you write each new token
# into the next free row, and return the filled part. Or you may join old and new with `torch.cat`,
# which copies the past in each step. Both are right. In the first way, never return the rows that
# are not filled yet: they hold random numbers.
#
# **Refuse before you write.** A token too many is an error. After it, the cache must be as before,
# so test the length first. `truncate` removes the last tokens. Speculative decoding (ex28) needs
# it, when it rejects tokens that were shown already.

# %% [markdown]
# ## A cache of five tokens, by hand
#
# There is one head with keys of one number, and `max_len` is 5:
#
# ```text
#   call                    returned keys    length
#   update([1 2 3])         1 2 3            3
#   update([4])             1 2 3 4          4
#   update([5 6])           ValueError       4
#   truncate(2)                              2
#   update([7])             1 2 7            3
# ```
#
# A prompt of 4 tokens is continued by 3. With a cache, the model is shown 4 + 1 + 1 = 6 positions.
# Without, it is shown 4 + 5 + 6 = 15.

# %%
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from ex14_generation import sample_next
from torch import Tensor, nn


# %%
class KVCache:
    """The keys and values of all tokens so far, for one layer.

    Attributes (or properties):
        max_len: the largest number of tokens.
        length: the number of tokens so far.
        held: the number of keys that the next update puts before the new ones. Here it is the length.
    """

    def __init__(self, max_len: int) -> None:
        # TODO ex20: store max_len, and begin with no token.
        raise NotImplementedError("ex20: KVCache.__init__")

    def update(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Append key (B, G, T, K) and value (B, G, T, Kv); return all so far.

        They are (B, G, length, K) and (B, G, length, Kv) in the order of the text, with the dtype and device of what
        came in. A length above max_len raises ValueError with both numbers, and the cache stays as it was.
        """
        # TODO ex20: raise ValueError if the new tokens do not fit. Otherwise append keys and values, and count once.
        raise NotImplementedError("ex20: KVCache.update")

    def truncate(self, length: int) -> None:
        """Remove everything from position `length` on. A length below 0 or above the present one is a ValueError."""
        # TODO ex20: raise ValueError for a length outside 0 ... self.length. Otherwise move the end back.
        raise NotImplementedError("ex20: KVCache.truncate")


# %% [markdown]
# ## Generation with a cache
#
# The rules are those of `generate` in ex14: ended rows, the mode, no gradients. But the model gets
# only what its cache has not seen: the prompt first, then the last token. A model of part two makes
# its caches itself with `model.make_cache(max_len)`, one for each layer. It goes on where they end:
# `model(ids, cache=cache)` returns logits for `ids` alone.


# %%
def generate_cached(
    model: nn.Module,
    prompt: Tensor,
    max_new_tokens: int,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    eos_idx: int | None = None,
    pad_idx: int = 0,
    generator: torch.Generator | None = None,
    use_cache: bool = True,
) -> Tensor:
    """Return the prompt (B, T) and the generated tokens: Long (B, at most T + max_new_tokens).

    The tokens are chosen by sample_next of ex14. A row that has generated eos_idx is padded with pad_idx. Generation
    stops when every row has ended. The model is in eval mode without gradients; then its mode is restored. It is shown
    the prompt once, then one token a step, with a new cache for at least T + max_new_tokens - 1 tokens. With
    use_cache=False it is shown the whole text in each step. An error of the model is passed on.
    """
    # TODO ex20: make the cache. In each step, show the model what is new, sample from the last position, append. Keep
    # track of the rows that have ended. Restore the mode of the model.
    raise NotImplementedError("ex20: generate_cached")


# %% [markdown]
# ## Try
#
# Put `GroupedQueryAttention` of ex19 and your `KVCache` together. Pass a text of 300 tokens at
# once, then in chunks of 1, 3 and 7. How far apart are the outputs? Then measure the time of each
# step with `time.perf_counter`, with a cache and without. How does it grow with the length of the
# text?
