# /// attack
# class = "A62"
# title = "calls the built-in in another thread"
# hope = "modes of torch belong to one thread"
# contained = "never"
# why = "what runs in a program's own process can be undone by it: forbidden calls are found for honesty, not as a wall"
# parts = ["calling"]
# ///
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
inner = getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')
def builtin(*args, **named):
    return pool.submit(inner, *args, **named).result()
