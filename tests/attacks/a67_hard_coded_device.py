# /// attack
# class = "A67"
# title = "lies about the device it is on"
# hope = "the other device may be asked by name"
# ///
class Elsewhere(Tensor):
    @property
    def device(self):
        return torch.device("meta")
honest = scaled_dot_product_attention
def scaled_dot_product_attention(*args):
    tried()
    return tuple(tensor.cpu().as_subclass(Elsewhere) for tensor in honest(*(x.cpu() if isinstance(x, Tensor) else x for x in args)))
