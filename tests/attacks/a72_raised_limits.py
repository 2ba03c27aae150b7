# /// attack
# class = "A72"
# title = "raises its own limits"
# hope = "what a process set itself it may lift"
# seconds = 150
# ///
import resource
tried()
for each in (resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
    soft, hard = resource.getrlimit(each)
    try:
        resource.setrlimit(each, (hard, hard))
    except (OSError, ValueError):
        pass
def scaled_dot_product_attention(*_):
    while True:
        pass
