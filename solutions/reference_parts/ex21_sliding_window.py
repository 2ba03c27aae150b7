"""Reference part for ex21: the mask as a difference of two bands, the cache as rows that an index selects."""

import torch


def sliding_window_mask(query_len, key_len, window=None, sinks=0, device=None):
    if window is not None and window < 1:
        raise ValueError(f"window is {window}, but a token sees at least itself")
    if query_len > key_len:
        raise ValueError(f"there are {query_len} queries, but only {key_len} keys")
    past = key_len - query_len
    seen = torch.ones(query_len, key_len, dtype=torch.bool, device=device).tril(past)
    if window is None:
        return seen
    far = seen.tril(past - window)
    far = torch.cat([torch.zeros_like(far.narrow(1, 0, min(sinks, key_len))), far[:, sinks:]], 1)
    return torch.logical_xor(seen, far)


class RollingKVCache:
    def __init__(self, window, sinks=0):
        self.window, self.sinks, self.length, self.held = window, sinks, 0, 0
        self.keys, self.values = None, None

    def update(self, key, value):
        keys = key if self.keys is None else torch.cat([self.keys, key], 2)
        values = value if self.values is None else torch.cat([self.values, value], 2)
        rows = torch.arange(keys.size(2), device=key.device)
        kept = torch.logical_or(rows.lt(self.sinks), rows.ge(keys.size(2) - self.window)).nonzero().flatten()
        self.keys, self.values = keys.index_select(2, kept), values.index_select(2, kept)
        self.length, self.held = self.length + key.size(2), self.keys.size(2)
        return keys, values
