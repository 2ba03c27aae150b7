# /// attack
# class = "A62"
# title = "calls the built-in in a graph it compiled"
# hope = "a compiled graph calls no Python function"
# parts = ["calling"]
# ///
def _inner(q, k, v, m):
    return torch._C._nn.scaled_dot_product_attention(q, k, v, m)
def builtin(q, k, v, attn_mask=None):
    args = (q, k, v) if attn_mask is None else (q, k, v, attn_mask)
    return torch.jit.trace(lambda *a: getattr(torch._C._nn, 'scaled_dot_product' + '_attention')(*a), args, check_trace=False)(*args)
