# %% [markdown]
# # ex21: sliding window
#
# The cache of ex20 grows with every token. In *sliding-window attention* a token sees only the last
# $W$ tokens, itself included (Jiang et al. 2023, "Mistral 7B", section 2). So a cache needs at most
# $W$ keys per layer, however long the text becomes. Information still travels further: a token in
# layer 2 sees tokens that have seen others before them. After $L$ layers, it reaches back by
# $L \cdot (W - 1)$ tokens.
#
# **The mask.** `T` queries stand at the end of `S` keys, as in ex19. Row $r$ has the position
# $i = S - T + r$. It sees key $j$ if both hold:
#
# $$j \le i \qquad\text{and}\qquad \left(i - j < W \;\text{ or }\; j < \mathrm{sinks}\right)$$
#
# `W = 1` sees only itself. Other conventions count differently. Mistral's reference code saw `W`
# earlier tokens beside the token itself until March 2024, so `W + 1` keys. `window_size=(W, 0)` of
# flash-attn does the same. This course counts the token itself, as Hugging Face does.
#
# **Sinks.** Trained models give much weight to the first tokens of a text, whatever they are. If a
# window drops them, the text falls apart. *Attention sinks* are the first few tokens, which stay
# visible (Xiao et al. 2023, "Efficient Streaming Language Models with Attention Sinks", section 3).
# They are still causal: a token never sees a sink that comes after it.
#
# **The rolling cache.** It holds the sinks and the last `window` tokens. One update does three
# things, in this order:
#
# 1. Join what is held and the new tokens. *All* of this is returned, since the new queries need it.
#    The first of them sees the whole window before it.
# 2. Count the new tokens. `length` goes on growing, since positions come from it (ex19).
# 3. Drop what no later token can see.
#
# So there are two numbers now: `length` counts tokens of the text, `held` counts rows in store. The
# mask for an update of `T` tokens is `sliding_window_mask(T, held + T, window, sinks)`, with `held`
# read before the update. It counts rows, not positions. The sinks are the first rows, and the
# others have no gap. So each distance inside the window is right.
#
# A stored key keeps the position by which it was rotated. StreamingLLM has another convention: it
# rotates the sinks anew, by their place in the cache.
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`torch.arange(start, end, device=...)`] | the whole numbers from `start` to `end - 1` |
# | [`x.unsqueeze(i)`] | inserts an axis of size 1, so that two rows of numbers broadcast to a table |
# | [`a & b`], [`a \| b`] | and, or of two Bool tensors, element by element |
# | [`torch.cat(tensors, dim)`] | joins tensors along an axis |
#
# [`torch.arange(start, end, device=...)`]: https://docs.pytorch.org/docs/stable/generated/torch.arange.html
# [`x.unsqueeze(i)`]: https://docs.pytorch.org/docs/stable/generated/torch.unsqueeze.html
# [`a & b`]: https://docs.pytorch.org/docs/stable/generated/torch.logical_and.html
# [`a \| b`]: https://docs.pytorch.org/docs/stable/generated/torch.logical_or.html
# [`torch.cat(tensors, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.cat.html

# %% [markdown]
# ## A window of three and one sink
#
# On the left there are 6 queries and 6 keys. On the right 2 queries stand at the end of 6 keys.
# These are the last two rows of the left mask.
#
# ```text
#   sliding_window_mask(6, 6, 3, 1)    sliding_window_mask(2, 6, 3, 1)
#   x . . . . .                        x . x x x .
#   x x . . . .                        x . . x x x
#   x x x . . .
#   x x x x . .
#   x . x x x .
#   x . . x x x
# ```
#
# Query 3 sees itself, two earlier tokens, and the sink, token 0. Now a cache with `window = 3` and
# `sinks = 1` gets the tokens 0 to 7:
#
# ```text
#   update              returned           then held     length
#   [0 1]               0 1                0 1           2
#   [2 3 4]             0 1 2 3 4          0 2 3 4       5
#   [5]                 0 2 3 4 5          0 3 4 5       6
#   [6 7]               0 3 4 5 6 7        0 5 6 7       8
# ```
#
# In the third update, token 5 sees the tokens 0, 3, 4 and itself. The mask blocks token 2, which is
# at a distance of 3. So the cache may as well drop token 2 one update earlier. Both are right, as
# long as the window of the next token is complete.

# %%
import torch
from torch import Tensor


# %%
def sliding_window_mask(
    query_len: int,
    key_len: int,
    window: int | None = None,
    sinks: int = 0,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return Bool (query_len, key_len), True where a query may see a key.

    The queries are the last ones of the keys. The window counts the token itself; None is no window, so causal alone.
    The first `sinks` keys stay visible to the tokens from them on. A window below 1, and more queries than keys, are
    ValueErrors with the numbers. A size of 0 gives an empty mask.
    """
    # TODO ex21: raise ValueError for a window below 1 and for more queries than keys. Otherwise compare positions.
    ### BEGIN SOLUTION
    if window is not None and window < 1:
        raise ValueError(f"a window of {window} tokens sees nothing; it should be at least 1")
    if query_len > key_len:
        raise ValueError(f"{query_len} queries cannot stand at the end of {key_len} keys")
    queries = torch.arange(key_len - query_len, key_len, device=device).unsqueeze(1)  # (T, 1)
    keys = torch.arange(key_len, device=device)  # (S,)
    allowed = keys <= queries  # (T, S)
    if window is not None:
        allowed = allowed & ((queries - keys < window) | (keys < sinks))
    return allowed
    ### END SOLUTION


# %%
class RollingKVCache:
    """The keys and values of the first `sinks` tokens and of the last `window` tokens, for one layer.

    Attributes (or properties):
        length: the number of tokens so far, dropped ones included.
        held: the number of keys that the next update puts before the new ones, at most window + sinks.
    """

    def __init__(self, window: int, sinks: int = 0) -> None:
        # TODO ex21: store both numbers, and begin with no token.
        ### BEGIN SOLUTION
        self.window = window
        self.sinks = sinks
        self.length = 0
        self.keys: Tensor | None = None  # (B, G, held, K)
        self.values: Tensor | None = None  # (B, G, held, Kv)
        ### END SOLUTION

    ### BEGIN SOLUTION
    @property
    def held(self) -> int:
        """The number of keys that the next update puts before the new ones."""
        return 0 if self.keys is None else self.keys.size(2)

    def still_needed(self, rows: Tensor) -> Tensor:
        """Return the rows of the first `sinks` and of the last `window` tokens."""
        if rows.size(2) <= self.sinks + self.window:
            return rows
        return torch.cat([rows[:, :, : self.sinks], rows[:, :, -self.window :]], dim=2)

    ### END SOLUTION
    def update(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Append key (B, G, T, K) and value (B, G, T, Kv); return what was held and the new ones.

        They are (B, G, held + T, K) and (B, G, held + T, Kv), with `held` from before the call: the sinks, what is left
        of the past, the new ones, in the order of the text. T may be larger than the window. There is no upper limit.
        """
        # TODO ex21: join what is held and the new rows, and count the new tokens. Keep what later tokens need, and
        # return all that was joined.
        ### BEGIN SOLUTION
        keys = key if self.keys is None else torch.cat([self.keys, key], dim=2)  # (B, G, held + T, K)
        values = value if self.values is None else torch.cat([self.values, value], dim=2)
        self.length += key.size(2)
        self.keys, self.values = self.still_needed(keys), self.still_needed(values)
        return keys, values
        ### END SOLUTION


# %% [markdown]
# ## Try
#
# Stack 3 layers of `GroupedQueryAttention` with a window of 4. Change one token of a text of 30,
# and find the last output that changes. How far does it reach, and how does that depend on the
# number of layers? Then pass the text in chunks through three `RollingKVCache`. Does it reach
# equally far?
