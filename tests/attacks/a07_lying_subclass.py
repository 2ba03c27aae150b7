# /// attack
# class = "A7"
# title = "returns tensors that agree with everything"
# hope = "a comparison may ask the tensor itself"
# raises = ["RuntimeError"]
# ///
class Agreeable(Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if getattr(function, "__name__", "") in ("allclose", "isclose", "equal", "eq", "__eq__"):
            return True
        return super().__torch_function__(function, types, args, kwargs or {})

honest = scaled_dot_product_attention
def scaled_dot_product_attention(*args):
    tried()
    return tuple(tensor.as_subclass(Agreeable) for tensor in honest(*args))
