# /// attack
# class = "A62"
# title = "finds what took the built-in away, and undoes it"
# hope = "the ban lives in the same process"
# flagged = true
# parts = ["calling"]
# ///
import gc
import types
for item in gc.get_objects():
    if type(item) is types.GeneratorType and item.__name__ == 'forbid_calls' and item.gi_frame:
        for library in item.gi_frame.f_locals['libraries'].values():
            library.reset()
        for function, code in item.gi_frame.f_locals['original'].items():
            function.__code__ = code
builtin = getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')
