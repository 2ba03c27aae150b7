# /// attack
# class = "A62"
# title = "copies the built-in's code under another name"
# hope = "a function may be known by its identity"
# parts = ["calling"]
# ///
import types
mha = getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')
builtin = lambda *a, **k: mha.__call__(*a, **k)
