# A ring of slots, rolled when it is read; the mask is filled row by row.
import torch


def sliding_window_mask(query_len, key_len, window=None, sinks=0, device=None):
    if window is not None and window < 1:
        raise ValueError("window is " + str(window))
    if key_len < query_len:
        raise ValueError(f"only {key_len} keys for {query_len} queries")
    mask = torch.zeros(query_len, key_len, dtype=torch.bool, device=device)
    for row in range(query_len):
        i = key_len - query_len + row
        first = 0 if window is None else max(0, i - window + 1)
        mask[row, first : i + 1] = True
        mask[row, : min(sinks, i + 1)] = True
    return mask


class Ring:
    def __init__(self, like, window, sinks):
        self.sinks, self.window = sinks, window
        self.slots = like.new_zeros(like.size(0), like.size(1), window + sinks, like.size(3))

    def slot(self, position):
        if position < self.sinks:
            return position
        return self.sinks + (position - self.sinks) % self.window

    def read(self, length):
        first = max(self.sinks, length - self.window)
        positions = [*range(min(self.sinks, length)), *range(first, length)]
        return self.slots[:, :, [self.slot(p) for p in positions]]

    def write(self, rows, start):
        for number in range(rows.size(2)):
            self.slots[:, :, self.slot(start + number)] = rows[:, :, number]


class RollingKVCache:
    def __init__(self, window, sinks=0):
        self.window = window
        self.sinks = sinks
        self.length = 0
        self.held = 0
        self.rings = None

    def update(self, key, value):
        if self.rings is None:
            self.rings = [Ring(each, self.window, self.sinks) for each in (key, value)]
        answer = []
        for ring, new in zip(self.rings, (key, value), strict=True):
            answer.append(torch.cat([ring.read(self.length), new], dim=2) if self.length else new)
            ring.write(new, self.length)
        self.length += key.size(2)
        self.held = min(self.length, self.window + self.sinks)
        return tuple(answer)
