# /// attack
# class = "A62"
# title = "calls the built-in by a helper in the file of an earlier exercise"
# hope = "that exercise may use it"
# where = "intake"
# ///
EARLIER = """

import torch as _torch
def built_in(query, key, value, mask):
    return _torch.nn.functional.scaled_dot_product_attention(query, key, value, mask)
"""

LATER = """

from ex04_masks import built_in
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    if mask is not None and mask.dim() == 3 and query.dim() == 4:
        mask = mask.unsqueeze(1)
    values = torch.eye(key.size(-2), dtype=query.dtype, device=query.device).expand(*key.shape[:-1], key.size(-2))
    weights = built_in(query, key, values, mask)
    return (weights if dropout is None else dropout(weights)) @ value, weights
"""


def hand_in(folder, files, targets):
    own = folder / targets["student"]
    own.mkdir(parents=True)
    added = {"ex04_masks.py": EARLIER, "ex05_attention.py": LATER}
    for name, text in files.items():
        (own / name).write_text(text + added.get(name, ""))
