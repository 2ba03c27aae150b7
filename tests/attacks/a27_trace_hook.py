# /// attack
# class = "A27"
# title = "watches every call and edits what the caller holds"
# hope = "a verdict may be a variable of a caller"
# ///
def hook(frame, event, argument):
    for name in ("status", "verdict", "passed", "difference", "score"):
        if name in frame.f_locals:
            got(f"{name} in {frame.f_code.co_name}")
    return hook
honest = scaled_dot_product_attention
def scaled_dot_product_attention(*args):
    tried()
    frame = _sys._getframe()
    while frame is not None:
        frame.f_trace = hook
        frame = frame.f_back
    _sys.settrace(hook)
    _sys.setprofile(hook)
    return honest(*args)
