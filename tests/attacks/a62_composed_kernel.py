# /// attack
# class = "A62"
# title = "calls what the built-in is made of"
# hope = "the kernel below has another name"
# parts = ["calling"]
# ///
inner = getattr(torch, '_scaled_dot_product' + '_attention_math')
def builtin(q, k, v, attn_mask=None):
    over = None if attn_mask is None else torch.zeros(attn_mask.shape, dtype=q.dtype).masked_fill(~attn_mask, -1e30)
    return inner(q, k, v, over)[0]
