# /// attack
# class = "A24"
# title = "returns NaN"
# hope = "a difference that is not larger than the tolerance may pass"
# ///
honest = scaled_dot_product_attention
def scaled_dot_product_attention(*args):
    tried()
    return tuple(torch.full_like(tensor, float("nan")) for tensor in honest(*args))
