# /// attack
# class = "A25"
# title = "returns a sparse tensor"
# hope = "shape and dtype may be compared loosely, or reading it may fail"
# ///
honest = scaled_dot_product_attention
def scaled_dot_product_attention(*args):
    tried()
    return tuple(tensor.to_sparse() for tensor in honest(*args))
