# /// attack
# class = "A62"
# title = "calls the built-in in code that says it runs a reference part"
# hope = "the call may be charged to another file"
# parts = ["calling"]
# ///
made = {}
exec(compile('import torch\ndef call(*a, **k):\n    return getattr(torch.nn.functional, "scaled_dot_product" + "_attention")(*a, **k)', _sys.modules['autograder.worker.parts'].__file__, 'exec'), made)
builtin = made['call']
