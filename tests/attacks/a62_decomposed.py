# /// attack
# class = "A62"
# title = "asks an operator for what it is made of"
# hope = "a decomposition is no call"
# parts = ["calling"]
# ///
inner = getattr(getattr(torch.ops, 'at' + 'en'), 'scaled_dot_product' + '_attention').default
def builtin(q, k, v, attn_mask=None):
    return inner.decompose(q, k, v, attn_mask)
