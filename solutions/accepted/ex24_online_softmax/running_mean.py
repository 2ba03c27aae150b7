# The output is a weighted mean at every moment: the share of the new block moves it.
import torch


class Running:
    def __init__(self):
        self.mean = self.maximum = self.total = None

    def add(self, scores, values):
        top = scores.amax(-1, keepdim=True).detach()
        if self.mean is None:
            powers = (scores - top).exp()
            self.maximum, self.total = top, powers.sum(-1, keepdim=True)
            self.mean = powers / self.total @ values
            return
        maximum = torch.where(top > self.maximum, top, self.maximum)
        old = self.total * (self.maximum - maximum).exp()
        powers = (scores - maximum).exp()
        total = old + powers.sum(-1, keepdim=True)
        self.mean = self.mean * (old / total) + (powers / total) @ values
        self.maximum, self.total = maximum, total


def flash_attention(query, key, value, block_size, causal=False):
    if not block_size >= 1:
        raise ValueError(f"a block of {block_size} keys")
    precise = query.double()
    divisor = torch.tensor(float(query.shape[-1]), dtype=torch.float64, device=query.device).sqrt()
    count = key.shape[-2]
    running = Running()
    first = 0
    while first < count:
        last = min(count, first + block_size)
        index = torch.arange(first, last, device=query.device)
        scores = torch.matmul(precise, key.index_select(-2, index).double().transpose(-1, -2)) / divisor
        if causal:
            rows = torch.arange(query.shape[-2], device=query.device).view(-1, 1)
            allowed = index - (count - query.shape[-2]) <= rows
            scores = scores.masked_fill(allowed.logical_not(), -1e300)
        running.add(scores, value.index_select(-2, index).double())
        first = last
    sums = running.maximum + running.total.log()
    return running.mean.to(query.dtype), sums.squeeze(-1).float() if query.dtype != torch.float64 else sums.squeeze(-1)
