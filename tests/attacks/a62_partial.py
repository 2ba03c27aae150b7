# /// attack
# class = "A62"
# title = "wraps the built-in in functools.partial"
# hope = "a call may be known by its function"
# ///
import functools
builtin = functools.partial(getattr(torch.nn.functional, 'scaled_dot_product_attention'[:]), dropout_p=0.0)
def weights_of(query, key, mask):
    return builtin(query, key, torch.eye(key.size(-2), dtype=query.dtype, device=query.device).expand(*key.shape[:-1], key.size(-2)), attn_mask=mask)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    tried()
    if mask is not None and mask.dim() == 3 and query.dim() == 4:
        mask = mask.unsqueeze(1)
    weights = weights_of(query, key, mask)
    kept = weights if dropout is None else dropout(weights)
    return kept @ value, weights
