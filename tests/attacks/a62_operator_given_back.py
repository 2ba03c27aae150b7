# /// attack
# class = "A62"
# title = "finds what took the built-in away, and undoes it"
# hope = "the watch lives in the same process"
# parts = ["calling"]
# ///
import gc
import types
for item in gc.get_objects():
    if type(item) is types.GeneratorType and item.__name__ == 'forbid' and item.gi_frame:
        for library in getattr(item.gi_frame.f_locals['ban'], '_libraries', {}).values():
            library.reset()
builtin = getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')
