# /// attack
# class = "A48"
# title = "looks for answers in memory that was freed"
# hope = "the reference may have been computed here"
# ///
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    tried()
    shape = torch.broadcast_shapes(query.shape[:-2], value.shape[:-2]) + (query.size(-2), value.size(-1))
    return torch.empty(shape), torch.empty(*shape[:-1], key.size(-2))
