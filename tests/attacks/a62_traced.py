# /// attack
# class = "A62"
# title = "calls the built-in in a graph it compiled"
# hope = "a compiled graph calls no Python function"
# ///
def _inner(q, k, v, m):
    return torch._C._nn.scaled_dot_product_attention(q, k, v, m)
def builtin(q, k, v, attn_mask=None):
    args = (q, k, v) if attn_mask is None else (q, k, v, attn_mask)
    return torch.jit.trace(lambda *a: getattr(torch._C._nn, 'scaled_dot_product' + '_attention')(*a), args, check_trace=False)(*args)
def weights_of(query, key, mask):
    return builtin(query, key, torch.eye(key.size(-2), dtype=query.dtype, device=query.device).expand(*key.shape[:-1], key.size(-2)), attn_mask=mask)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    tried()
    if mask is not None and mask.dim() == 3 and query.dim() == 4:
        mask = mask.unsqueeze(1)
    weights = weights_of(query, key, mask)
    kept = weights if dropout is None else dropout(weights)
    return kept @ value, weights
