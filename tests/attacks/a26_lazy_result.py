# /// attack
# class = "A26"
# title = "returns a tensor that is computed when it is looked at"
# hope = "it may be computed where the expected values are"
# raises = ["RuntimeError"]
# ///
class Lazy(Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        frame = _sys._getframe()
        while frame is not None:
            for name, value in frame.f_locals.items():
                if name in ("expected", "reference", "nominal", "exact"):
                    got(f"{name} in {frame.f_code.co_name}")
            frame = frame.f_back
        return super().__torch_function__(function, types, args, kwargs or {})

honest = scaled_dot_product_attention
def scaled_dot_product_attention(*args):
    tried()
    return tuple(tensor.as_subclass(Lazy) for tensor in honest(*args))
