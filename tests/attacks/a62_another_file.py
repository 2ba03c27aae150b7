# /// attack
# class = "A62"
# title = "calls the built-in in code that says it runs a reference part"
# hope = "the call may be charged to another file"
# parts = ["calling"]
# ///
frame = _sys._getframe()
while frame is not None and '/autograder/worker/' not in frame.f_code.co_filename:
    frame = frame.f_back
parts = frame.f_code.co_filename.rpartition('/')[0] + '/parts.py' if frame is not None else 'parts.py'
made = {}
exec(compile('import torch\ndef call(*a, **k):\n    return getattr(torch.nn.functional, "scaled_dot_product" + "_attention")(*a, **k)', parts, 'exec'), made)
builtin = made['call']
