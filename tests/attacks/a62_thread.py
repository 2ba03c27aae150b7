# /// attack
# class = "A62"
# title = "calls the built-in in another thread"
# hope = "modes of torch belong to one thread"
# parts = ["calling"]
# ///
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
inner = getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')
def builtin(*args, **named):
    return pool.submit(inner, *args, **named).result()
