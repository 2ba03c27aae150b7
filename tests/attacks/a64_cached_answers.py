# /// attack
# class = "A64"
# title = "computes once and returns the same ever after"
# hope = "a second call may not be looked at"
# ///
CACHE = {}
honest = scaled_dot_product_attention
def scaled_dot_product_attention(query, *args):
    tried()
    if tuple(query.shape) not in CACHE:
        CACHE[tuple(query.shape)] = honest(query, *args)
    return CACHE[tuple(query.shape)]
