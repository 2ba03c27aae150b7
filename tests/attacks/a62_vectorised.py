# /// attack
# class = "A62"
# title = "calls the built-in under vmap"
# hope = "torch.func has kernels of its own"
# parts = ["calling"]
# ///
inner = getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')
def builtin(q, k, v, attn_mask=None):
    given = (q[None], k[None], v[None]) + (() if attn_mask is None else (attn_mask.expand(*q.shape[:-1], k.size(-2))[None],))
    return torch.vmap(inner)(*given)[0]
