# /// attack
# class = "A62"
# title = "calls the built-in with torch functions disabled"
# hope = "what watches the calls may be switched off"
# contained = "never"
# why = "what runs in a program's own process can be undone by it: forbidden calls are found for honesty, not as a wall"
# ///
inner = getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')
def builtin(*args, **named):
    with torch._C.DisableTorchFunction():
        return inner(*args, **named)
def weights_of(query, key, mask):
    return builtin(query, key, torch.eye(key.size(-2), dtype=query.dtype, device=query.device).expand(*key.shape[:-1], key.size(-2)), attn_mask=mask)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    tried()
    if mask is not None and mask.dim() == 3 and query.dim() == 4:
        mask = mask.unsqueeze(1)
    weights = weights_of(query, key, mask)
    kept = weights if dropout is None else dropout(weights)
    return kept @ value, weights
