# /// attack
# class = "A62"
# title = "finds what took the built-in away, and undoes it"
# hope = "the watch lives in the same process"
# contained = "never"
# why = "what runs in a program's own process can be undone by it: forbidden calls are found for honesty, not as a wall"
# parts = ["calling"]
# ///
import gc
import types
for each in gc.get_objects():
    if isinstance(each, types.GeneratorType) and each.__name__ == 'forbidding' and each.gi_frame:
        each.gi_frame.f_locals['library'].reset()
builtin = getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')
