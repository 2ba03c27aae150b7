# /// attack
# class = "A75"
# title = "takes all the memory there is"
# hope = "the machine may run out of it"
# ///
def scaled_dot_product_attention(*_):
    tried()
    return [torch.ones(1 << 26) for _ in range(64)]
