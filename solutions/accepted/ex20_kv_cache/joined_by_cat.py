# Keys and values are joined with torch.cat; generation splits off the prompt before the loop.
import torch
from ex14_generation import sample_next


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.store = ()

    @property
    def length(self):
        return self.store[0].size(2) if self.store else 0

    held = length

    def update(self, key, value):
        if self.length + key.size(2) > self.max_len:
            raise ValueError(f"length {self.length} + {key.size(2)} = {self.length + key.size(2)} > {self.max_len}")
        if self.store:
            key, value = torch.cat((self.store[0], key), dim=-2), torch.cat((self.store[1], value), dim=-2)
        self.store = (key, value)
        return self.store

    def truncate(self, length):
        if length < 0 or length > self.length:
            raise ValueError(f"length {length} of {self.length}")
        self.store = tuple(each[:, :, :length] for each in self.store)


@torch.no_grad()
def generate_cached(
    model, prompt, max_new_tokens, temperature=0.0, top_k=None, top_p=None, eos_idx=None, pad_idx=0, generator=None,
    use_cache=True,
):  # fmt: skip
    mode = model.training
    model.eval()
    try:
        cache = model.make_cache(prompt.shape[1] + max_new_tokens) if use_cache else None
        text = prompt
        going = torch.ones(len(prompt), dtype=torch.bool, device=prompt.device)
        for step in range(max_new_tokens):
            if not going.any():
                break
            part = text[:, -1:] if use_cache and step else text
            logits = model(part, cache=cache) if use_cache else model(part)
            token = sample_next(logits[:, -1, :], temperature, top_k=top_k, top_p=top_p, generator=generator)
            token = torch.where(going, token, torch.full_like(token, pad_idx))
            text = torch.cat([text, token[:, None]], dim=1)
            if eos_idx is not None:
                going = going & token.ne(eos_idx)
        return text
    finally:
        model.train(mode)
