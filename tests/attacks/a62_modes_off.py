# /// attack
# class = "A62"
# title = "calls the built-in with torch functions disabled"
# hope = "what watches the calls may be switched off"
# contained = "never"
# why = "what runs in a program's own process can be undone by it: forbidden calls are found for honesty, not as a wall"
# parts = ["calling"]
# ///
inner = getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')
def builtin(*args, **named):
    with torch._C.DisableTorchFunction():
        return inner(*args, **named)
