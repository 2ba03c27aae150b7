# /// attack
# class = "A72"
# title = "raises its own limits"
# hope = "what a process set itself it may lift"
# seconds = 150
# ///
import resource
tried()
for limit in (resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
    soft, hard = resource.getrlimit(limit)
    try:
        resource.setrlimit(limit, (hard, hard))
    except (OSError, ValueError):
        pass
def scaled_dot_product_attention(*_):
    while True:
        pass
