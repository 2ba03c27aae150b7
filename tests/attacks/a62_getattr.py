# /// attack
# class = "A62"
# title = "reaches the built-in by getattr"
# hope = "a name that is put together is not seen"
# parts = ["calling"]
# ///
builtin = getattr(torch.nn.functional, 'scaled_dot_' + 'product_attention')
