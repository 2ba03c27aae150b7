# A subclass of ex20's cache whose store is cut after each update; the mask as a causal one less an older one.
import torch
from ex20_kv_cache import KVCache


def causal(query_len, key_len, device):
    rows = torch.arange(query_len, device=device).view(-1, 1)
    return torch.arange(key_len, device=device).view(1, -1) - (key_len - query_len) <= rows


def sliding_window_mask(query_len, key_len, window=None, sinks=0, device=None):
    for wrong in (window is not None and window <= 0, query_len > key_len):
        if wrong:
            raise ValueError(f"a window of {window} for {query_len} queries and {key_len} keys")
    mask = causal(query_len, key_len, device)
    if window is not None:
        too_old = torch.zeros_like(mask)
        if key_len > window:
            too_old[:, : key_len - window] = causal(query_len, key_len - window, device)
        too_old[:, :sinks] = False
        mask = mask & ~too_old
    return mask


class RollingKVCache(KVCache):
    def __init__(self, window, sinks=0):
        super().__init__(max_len=2**40)
        self.window, self.sinks = window, sinks
        self.kept = None
        self.seen = 0

    @property
    def length(self):
        return self.seen

    @length.setter
    def length(self, value):
        pass

    @property
    def held(self):
        return 0 if self.kept is None else len(self.kept[0])

    @held.setter
    def held(self, value):
        pass

    def update(self, key, value):
        new = [list(each.unbind(dim=2)) for each in (key, value)]
        rows = new if self.kept is None else [old + more for old, more in zip(self.kept, new, strict=True)]
        self.seen += key.size(2)
        most = self.sinks + self.window
        self.kept = [each if len(each) <= most else each[: self.sinks] + each[-self.window :] for each in rows]
        if not rows[0]:
            return key, value
        return torch.stack(rows[0], dim=2), torch.stack(rows[1], dim=2)
