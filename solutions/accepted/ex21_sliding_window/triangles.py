# The mask by tril and triu; the cache keeps window - 1 rows, with the sinks in a store of their own.
import torch
from torch import Tensor


def sliding_window_mask(query_len, key_len, window=None, sinks=0, device=None):
    if query_len > key_len:
        raise ValueError(f"query_len {query_len} > key_len {key_len}")
    past = key_len - query_len
    mask = torch.ones(query_len, key_len, dtype=torch.bool, device=device).tril(past)
    if window is None:
        return mask
    if window < 1:
        raise ValueError(f"window must be positive, not {window}")
    band = mask.triu(past - window + 1)
    band[:, :sinks] = mask[:, :sinks]
    return band


class RollingKVCache:
    def __init__(self, window: int, sinks: int = 0) -> None:
        self.window, self.sinks = window, sinks
        self.length = 0
        self.first: list[Tensor] = []
        self.last: list[Tensor] = []

    @property
    def held(self) -> int:
        return self.first[0].size(2) + self.last[0].size(2) if self.first else 0

    def update(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        if not self.first:
            self.first = [each[:, :, :0] for each in (key, value)]
            self.last = list(self.first)
        joined = [torch.cat(three, dim=2) for three in zip(self.first, self.last, (key, value), strict=True)]
        self.length += key.size(2)
        kept = min(self.window - 1, max(0, joined[0].size(2) - self.sinks))
        self.first = [each[:, :, : self.sinks] for each in joined]
        self.last = [each[:, :, each.size(2) - kept :] for each in joined]
        return joined[0], joined[1]
