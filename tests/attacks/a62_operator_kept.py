# /// attack
# class = "A62"
# title = "keeps the kernel of the built-in from the time of an earlier exercise"
# hope = "what is taken away may be held already"
# where = "intake"
# contained = "never"
# why = "what runs in a program's own process can be undone by it: forbidden calls are found for honesty, not as a wall"
# ///
EARLIER = """

import torch as _torch
_name = "aten::_scaled_dot_product" + "_flash_attention_for_cpu"
_kernel = getattr(_torch.library, "get" + "_kernel")(_name, "CPU")
def kept(*given, **named):
    return _kernel.call_boxed(_torch._C.DispatchKeySet(_torch._C.DispatchKey.CPU), *given, **named)[0]
"""

LATER = """

from ex04_masks import kept
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    if mask is not None and mask.dim() == 3 and query.dim() == 4:
        mask = mask.unsqueeze(1)
    tokens, seen = query.size(-2), key.size(-2)
    size = max(query.size(-1), seen)
    values = torch.eye(seen, dtype=query.dtype).expand(*key.shape[:-1], seen)
    def four(x, size):
        return torch.nn.functional.pad(x.reshape(1, -1, *x.shape[-2:]), (0, size - x.size(-1)))
    over = torch.zeros(*query.shape[:-1], seen, dtype=query.dtype)
    over = over if mask is None else over.masked_fill(~mask, -1e30)
    given = [four(each, size) for each in (query, key, values)]
    found = kept(*given, 0.0, False, attn_mask=four(over, seen), scale=query.size(-1) ** -0.5)
    weights = found[..., :seen].reshape(over.shape)
    return (weights if dropout is None else dropout(weights)) @ value, weights
"""


def hand_in(folder, files, targets):
    own = folder / targets["student"]
    own.mkdir(parents=True)
    added = {"ex04_masks.py": EARLIER, "ex05_attention.py": LATER}
    for name, text in files.items():
        (own / name).write_text(text + added.get(name, ""))
