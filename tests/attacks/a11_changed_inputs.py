# /// attack
# class = "A11"
# title = "empties its inputs before the solution sees them"
# hope = "the solution may be given the same tensors"
# ///
honest = scaled_dot_product_attention
def scaled_dot_product_attention(query, key, value, *others):
    tried()
    with torch.no_grad():
        for tensor in (query, key, value):
            tensor.zero_()
    return honest(query, key, value, *others)
