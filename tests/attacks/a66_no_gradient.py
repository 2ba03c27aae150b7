# /// attack
# class = "A66"
# title = "computes right values without a gradient"
# hope = "only the values may be looked at"
# ///
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    tried()
    import numpy
    q, k, v = (tensor.detach().double().numpy() for tensor in (query, key, value))
    scores = q @ k.swapaxes(-1, -2) / 1.0
    powers = numpy.exp(scores - scores.max(-1, keepdims=True))
    weights = torch.tensor(powers / powers.sum(-1, keepdims=True))
    return (weights @ value.double()).to(query.dtype), weights.to(query.dtype)
