# /// attack
# class = "A43"
# title = "prints its inputs"
# hope = "inputs of a secret seed may be collected"
# ///
honest = scaled_dot_product_attention
def scaled_dot_product_attention(query, *args):
    tried()
    print(query.flatten()[:200].tolist(), flush=True)
    return honest(query, *args)
