# /// attack
# class = "A62"
# title = "reaches the built-in by torch.ops"
# hope = "the same kernel has other names"
# parts = ["calling"]
# ///
ops = getattr(torch, 'ops')
packet = getattr(getattr(ops, 'at' + 'en'), 'scaled_dot_product' + '_attention')
def builtin(q, k, v, attn_mask=None):
    return packet(q, k, v, attn_mask)
