# What is new is found from the length of the first cache; the store is one tensor with keys and values side by side.
import torch
from ex14_generation import sample_next


class KVCache:
    def __init__(self, max_len):
        self.max_len, self.rows, self.cut = max_len, None, 0

    @property
    def length(self):
        return 0 if self.rows is None else self.rows.size(-2)

    @property
    def held(self):
        return self.length

    def update(self, key, value):
        total = self.length + key.size(-2)
        if self.max_len < total:
            raise ValueError(f"{total} tokens are more than max_len {self.max_len}")
        both = torch.cat((key, value), dim=-1)
        self.rows, self.cut = both if self.rows is None else torch.cat((self.rows, both), dim=-2), key.size(-1)
        return self.rows[..., : self.cut], self.rows[..., self.cut :]

    def truncate(self, length):
        if length < 0 or length > self.length:
            raise ValueError(f"{length} is not between 0 and the length {self.length}")
        if self.rows is not None:
            self.rows = self.rows[..., :length, :]


@torch.no_grad()
def generate_cached(model, prompt, max_new_tokens, temperature=0.0, top_k=None, top_p=None, eos_idx=None, pad_idx=0,
                    generator=None, use_cache=True):  # fmt: skip
    training, rows = model.training, prompt.size(0)
    text, going = prompt, list(range(rows))
    model.eval()
    caches = model.make_cache(max_len=prompt.size(1) + max_new_tokens) if use_cache else None
    try:
        for _ in range(max_new_tokens):
            known = caches[0].length if use_cache else 0
            following = sample_next(model(text[:, known:], cache=caches)[:, -1], temperature, top_k, top_p, generator)
            column = torch.full_like(text[:, 0], pad_idx)
            column[going] = following[going]
            text = torch.cat((text, column[:, None]), dim=1)
            if eos_idx is not None:
                going = [row for row in going if column[row] != eos_idx]
            if not going:
                break
    finally:
        model.train(training)
    return text
