# /// attack
# class = "A23"
# title = "says itself that its source names nothing forbidden, and calls it"
# hope = "what the source names may be told by the program"
# parts = ["inside"]
# ///
type(the_job().sources).survey = lambda *_: {"places": {}, "forbidden": [], "assignments": [], "statements": []}
def builtin(*args, **named):
    with torch._C.DisableTorchFunction():
        return torch.nn.functional.scaled_dot_product_attention(*args, **named)
def weights_of(query, key, mask):
    return builtin(query, key, torch.eye(key.size(-2), dtype=query.dtype, device=query.device).expand(*key.shape[:-1], key.size(-2)), attn_mask=mask)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    tried()
    if mask is not None and mask.dim() == 3 and query.dim() == 4:
        mask = mask.unsqueeze(1)
    weights = weights_of(query, key, mask)
    kept = weights if dropout is None else dropout(weights)
    return kept @ value, weights
