# %% [markdown]
# # ex20: key-value cache

# %%
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from ex14_generation import sample_next
from torch import Tensor, nn


# %%
class KVCache:
    """The keys and values of all tokens so far, for one layer.

    Attributes:
        max_len: the largest number of tokens.
        length: the number of tokens seen.
        held: the number of keys that the next update puts before the new ones, here the length.
    """

    def __init__(self, max_len: int) -> None:
        # TODO ex20: store max_len and begin with no token.
        ### BEGIN SOLUTION
        self.max_len = max_len
        self.length = 0
        self.keys: Tensor | None = None  # (B, G, max_len, K), made by the first update
        self.values: Tensor | None = None  # (B, G, max_len, Kv)
        ### END SOLUTION

    ### BEGIN SOLUTION
    @property
    def held(self) -> int:
        """The number of keys that the next update puts before the new ones."""
        return self.length

    ### END SOLUTION
    def update(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Append key (B, G, T, K) and value (B, G, T, Kv), return all so far: (B, G, length, K), (B, G, length, Kv)."""
        # TODO ex20: raise ValueError if they do not fit. Otherwise append them and count them.
        ### BEGIN SOLUTION
        end = self.length + key.size(2)
        if end > self.max_len:
            raise ValueError(f"{end} tokens do not fit into a cache of max_len {self.max_len}")
        if self.keys is None or self.values is None:
            self.keys = key.new_empty(*key.shape[:2], self.max_len, key.size(3))
            self.values = value.new_empty(*value.shape[:2], self.max_len, value.size(3))
        self.keys[:, :, self.length : end] = key
        self.values[:, :, self.length : end] = value
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]
        ### END SOLUTION

    def truncate(self, length: int) -> None:
        """Forget everything from position `length` on."""
        # TODO ex20: raise ValueError outside 0 ... self.length. Otherwise move the end back.
        ### BEGIN SOLUTION
        if not 0 <= length <= self.length:
            raise ValueError(f"a cache of {self.length} tokens cannot be truncated to {length}")
        self.length = length
        ### END SOLUTION


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
    """Return the prompt (B, T) and the generated tokens: Long (B, at most T + max_new_tokens)."""
    # TODO ex20: show the model the prompt once, then one token a step.
    ### BEGIN SOLUTION
    ids = prompt  # (B, T)
    ended = torch.zeros_like(ids[:, 0], dtype=torch.bool)  # (B,)
    with in_use(model):
        cache = model.make_cache(ids.size(1) + max_new_tokens) if use_cache else None
        shown = ids  # (B, T), then (B, 1)
        for _ in range(max_new_tokens):
            logits = model(shown, cache=cache)[:, -1]  # (B, V)
            tokens = sample_next(logits, temperature, top_k, top_p, generator)  # (B,)
            tokens = tokens.masked_fill(ended, pad_idx)
            ids = torch.cat([ids, tokens.unsqueeze(1)], dim=1)  # (B, T + 1)
            if eos_idx is not None:
                ended = ended | (tokens == eos_idx)
                if ended.all():
                    break
            shown = tokens.unsqueeze(1) if use_cache else ids
    return ids
    ### END SOLUTION
