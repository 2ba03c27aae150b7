# The buffer doubles when it is full, and a result tensor is filled column by column.
import torch
from ex14_generation import sample_next
from torch import Tensor


class Buffer:
    def __init__(self, first: Tensor) -> None:
        self.rows = first.new_zeros(first.size(0), first.size(1), 4, first.size(3))

    def write(self, start: int, new: Tensor) -> Tensor:
        end = start + new.size(2)
        while self.rows.size(2) < end:
            self.rows = torch.cat([self.rows, torch.zeros_like(self.rows)], dim=2)
        self.rows.narrow(2, start, new.size(2)).copy_(new)
        return self.rows.narrow(2, 0, end).clone()


class KVCache:
    def __init__(self, max_len: int) -> None:
        self.max_len, self.length, self.held = max_len, 0, 0
        self.buffers: list[Buffer] = []

    def update(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        start, end = self.length, self.length + key.size(2)
        if end > self.max_len:
            raise ValueError(f"the text would have {end} tokens, max_len is {self.max_len}")
        if not self.buffers:
            self.buffers = [Buffer(key), Buffer(value)]
        self.length = self.held = end
        return self.buffers[0].write(start, key), self.buffers[1].write(start, value)

    def truncate(self, length: int) -> None:
        if length < 0:
            raise ValueError(f"{length} is negative")
        if length > self.length:
            raise ValueError(f"there are only {self.length} tokens, not {length}")
        self.length = self.held = length


def generate_cached(model, prompt, max_new_tokens, temperature=0.0, top_k=None, top_p=None,
                    eos_idx=None, pad_idx=0, generator=None, use_cache=True):  # fmt: skip
    B, T = prompt.shape
    text = torch.full((B, T + max_new_tokens), pad_idx, dtype=prompt.dtype, device=prompt.device)
    text[:, :T] = prompt
    alive = torch.ones(B, dtype=torch.bool, device=prompt.device)
    training = model.training
    model.train(False)
    end = T
    try:
        with torch.set_grad_enabled(False):
            cache = model.make_cache(max_len=T + max_new_tokens) if use_cache else None
            first = 0
            while end < T + max_new_tokens and bool(alive.any()):
                logits = model(text[:, first:end], cache=cache)
                token = sample_next(logits[:, -1], temperature, top_k, top_p, generator)
                text[alive, end] = token[alive]
                if eos_idx is not None:
                    alive = alive & (token != eos_idx)
                first, end = (end if use_cache else 0), end + 1
    finally:
        model.train(training)
    return text[:, :end]
