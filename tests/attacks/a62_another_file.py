# /// attack
# class = "A62"
# title = "calls the built-in in code that says it is a stand-in"
# hope = "the call may be charged to another file"
# parts = ["calling"]
# ///
made = {}
exec(compile('import torch\ndef call(*a, **k):\n    return getattr(torch.nn.functional, "scaled_dot_product" + "_attention")(*a, **k)', 'stand_ins/x.py', 'exec'), made)
builtin = made['call']
