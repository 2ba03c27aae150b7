# /// attack
# class = "A62"
# title = "finds what took the built-in away, undoes it for one call, and redoes it"
# hope = "the watch lives in the same process, and looks only between the calls"
# contained = "never"
# why = "what runs in a program's own process can be undone by it, and done again before anybody looks"
# parts = ["calling"]
# ///
import gc
import types
bans = [item.gi_frame.f_locals['ban'] for item in gc.get_objects() if type(item) is types.GeneratorType and item.__name__ == 'forbid' and item.gi_frame]
inner = getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')
def builtin(*args, **named):
    for ban in bans:
        ban.end()
    try:
        return inner(*args, **named)
    finally:
        for ban in bans:
            ban.begin()
