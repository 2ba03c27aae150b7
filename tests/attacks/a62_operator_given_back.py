# /// attack
# class = "A62"
# title = "finds what took the built-in away, and undoes it"
# hope = "the watch lives in the same process"
# parts = ["calling"]
# ///
import gc
import types
for each in gc.get_objects():
    if isinstance(each, types.GeneratorType) and each.__name__ == 'forbid' and each.gi_frame:
        for library in getattr(each.gi_frame.f_locals['ban'], '_libraries', {}).values():
            library.reset()
builtin = getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')
