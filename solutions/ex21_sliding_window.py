# %% [markdown]
# # ex21: sliding window

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
    """Return Bool (query_len, key_len), True where a query may see a key. The last query stands at the last key."""
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

    Attributes:
        length: the number of tokens seen.
        held: the number of keys that the next update puts before the new ones.
    """

    def __init__(self, window: int, sinks: int = 0) -> None:
        # TODO ex21: store both numbers and begin with no token.
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
        """Append key (B, G, T, K) and value (B, G, T, Kv), return what was held and the new ones."""
        # TODO ex21: join what is held and the new rows, count the new tokens, drop what no later query needs.
        ### BEGIN SOLUTION
        keys = key if self.keys is None else torch.cat([self.keys, key], dim=2)  # (B, G, held + T, K)
        values = value if self.values is None else torch.cat([self.values, value], dim=2)
        self.length += key.size(2)
        self.keys, self.values = self.still_needed(keys), self.still_needed(values)
        return keys, values
        ### END SOLUTION
