# /// attack
# class = "A61"
# title = "uses torch's own multi-head attention"
# hope = "the built-in gives the right numbers"
# parts = ["calling"]
# ///
def weights_of(query, key, mask):
    """One head whose projections are identities."""
    size, lead = key.size(-1), query.shape[:-2]
    built_in = torch.nn.MultiheadAttention(size, 1, bias=False, batch_first=True, dtype=query.dtype, device=query.device)
    with torch.no_grad():
        built_in.in_proj_weight.copy_(torch.eye(size).repeat(3, 1))
        built_in.out_proj.weight.copy_(torch.eye(size))
    hidden = None if mask is None else ~mask.expand(*lead, query.size(-2), key.size(-2)).flatten(0, -3)
    queries, keys = query.flatten(0, -3), key.flatten(0, -3)
    return built_in(queries, keys, keys, attn_mask=hidden)[1].unflatten(0, lead)
