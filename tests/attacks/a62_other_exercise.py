# /// attack
# class = "A62"
# title = "calls the built-in in code that says it is an earlier exercise"
# hope = "the call may be charged to another file"
# contained = "never"
# why = "what runs in a program's own process can be undone by it: forbidden calls are found for honesty, not as a wall"
# ///
made = {}
exec(compile('import torch\ndef call(*a, **k):\n    return getattr(torch.nn.functional, "scaled_dot_product" + "_attention")(*a, **k)', 'ex04_masks.py', 'exec'), made)
builtin = made['call']
def weights_of(query, key, mask):
    return builtin(query, key, torch.eye(key.size(-2), dtype=query.dtype, device=query.device).expand(*key.shape[:-1], key.size(-2)), attn_mask=mask)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    tried()
    if mask is not None and mask.dim() == 3 and query.dim() == 4:
        mask = mask.unsqueeze(1)
    weights = weights_of(query, key, mask)
    kept = weights if dropout is None else dropout(weights)
    return kept @ value, weights
