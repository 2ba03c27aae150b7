# /// attack
# class = "A24"
# title = "returns infinity"
# hope = "a tolerance relative to what is returned may be infinite"
# ///
honest = scaled_dot_product_attention
def scaled_dot_product_attention(*args):
    tried()
    return tuple(torch.full_like(tensor, float("inf")) for tensor in honest(*args))
