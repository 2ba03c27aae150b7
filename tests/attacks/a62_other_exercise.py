# /// attack
# class = "A62"
# title = "calls the built-in in an earlier exercise"
# hope = "the call may be charged to another file"
# exercise = "ex04_masks"
# wrong = "masks-target-either"
# ///
# The earlier exercise is allowed to call it: only the file of this one is looked at.
def _attend(*args, **named):
    tried()
    return getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')(*args, **named)
_sys.modules['builtins'].__dict__['_attend'] = _attend
