# /// attack
# class = "A7"
# title = "returns tensors whose data, numpy and tolist lie"
# hope = "the numbers may be read by a method of the tensor"
# raises = ["RuntimeError"]
# ///
class Blank(Tensor):
    def detach(self): return torch.zeros(self.shape)
    def numpy(self, *_, **__): return torch.zeros(self.shape).numpy()
    def cpu(self): return torch.zeros(self.shape)
    def contiguous(self): return torch.zeros(self.shape)
    def as_subclass(self, cls): return self
    def tobytes(self): return b""
    @property
    def shape(self): return torch.Size([1])

honest = scaled_dot_product_attention
def scaled_dot_product_attention(*args):
    tried()
    return tuple(tensor.as_subclass(Blank) for tensor in honest(*args))
