# /// attack
# class = "A62"
# title = "calls the built-in's kernel below the dispatcher's modes"
# hope = "what watches may be above it"
# parts = ["calling"]
# ///
inner = getattr(getattr(torch.ops, 'at' + 'en'), '_scaled_dot_product' + '_flash_attention_for_cpu').default
def builtin(q, k, v, attn_mask=None):
    size = max(q.size(-1), v.size(-1))
    def four(x, size):
        return torch.nn.functional.pad(x.detach().reshape(1, -1, *x.shape[-2:]), (0, size - x.size(-1)))
    over = None if attn_mask is None else torch.zeros(*q.shape[:-1], k.size(-2), dtype=q.dtype).masked_fill(~attn_mask, -1e30)
    over = None if over is None else four(over, over.size(-1))
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
    given = [four(tensor, size) for tensor in (q, k, v)]
    found = inner.redispatch(keys, *given, 0.0, False, attn_mask=over, scale=q.size(-1) ** -0.5)[0]
    return found[..., :v.size(-1)].reshape(*q.shape[:-1], v.size(-1))
