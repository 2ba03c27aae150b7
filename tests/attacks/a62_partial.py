# /// attack
# class = "A62"
# title = "wraps the built-in in functools.partial"
# hope = "a call may be known by its function"
# parts = ["calling"]
# ///
import functools
builtin = functools.partial(getattr(torch.nn.functional, 'scaled_dot_product_attention'[:]), dropout_p=0.0)
