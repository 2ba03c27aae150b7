# /// attack
# class = "A25"
# title = "returns a complex tensor"
# hope = "shape and dtype may be compared loosely, or reading it may fail"
# ///
honest = scaled_dot_product_attention
def scaled_dot_product_attention(*args):
    tried()
    return tuple(tensor.to(torch.complex64) for tensor in honest(*args))
