# The prompt is shown before the loop, and the last token is shown as well: its logits are not used.
from contextlib import nullcontext

import torch
from ex14_generation import sample_next


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.k = self.v = None
        self.length = 0

    @property
    def held(self):
        return self.length

    def update(self, key, value):
        n = key.shape[2]
        if n + self.length > self.max_len:
            raise ValueError(f"max_len is {self.max_len}, but there would be {n + self.length} tokens")
        if self.k is None:
            B, G = key.shape[:2]
            self.k = torch.zeros((B, G, self.max_len, key.shape[3]), dtype=key.dtype, device=key.device)
            self.v = torch.zeros((B, G, self.max_len, value.shape[3]), dtype=value.dtype, device=value.device)
        places = torch.arange(self.length, self.length + n, device=key.device)
        self.k = self.k.index_copy(2, places, key)
        self.v = self.v.index_copy(2, places, value)
        self.length += n
        return self.k[:, :, : self.length], self.v[:, :, : self.length]

    def truncate(self, length):
        if length not in range(self.length + 1):
            raise ValueError(f"cannot keep {length} of {self.length} tokens")
        self.length = length


class EvalMode:
    def __init__(self, model):
        self.model, self.mode = model, model.training

    def __enter__(self):
        self.model.eval()

    def __exit__(self, *_):
        self.model.train(self.mode)


def generate_cached(model, prompt, max_new_tokens, temperature=0.0, top_k=None, top_p=None, eos_idx=None, pad_idx=0,
                    generator=None, use_cache=True):  # fmt: skip
    if max_new_tokens < 1:
        return prompt.clone()
    finished = torch.zeros_like(prompt[:, :1], dtype=torch.bool)
    text, limit = prompt, prompt.shape[1] + max_new_tokens
    with EvalMode(model), torch.no_grad(), nullcontext():
        state = model.make_cache(limit) if use_cache else None
        logits = model(text, cache=state)
        while text.shape[1] < limit:
            token = sample_next(logits[:, -1], temperature, top_k, top_p, generator).unsqueeze(-1)
            token[finished] = pad_idx
            text = torch.cat([text, token], -1)
            if eos_idx is not None:
                finished |= token == eos_idx
                if finished.all():
                    break
            logits = model(token if use_cache else text, cache=state)
    return text
