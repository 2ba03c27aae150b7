# /// attack
# class = "A62"
# title = "takes the built-in from torch._C"
# hope = "the extension module has it too"
# parts = ["calling"]
# ///
builtin = getattr(torch._C._nn, 'scaled_dot' + '_product_attention')
