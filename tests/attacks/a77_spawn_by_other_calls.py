# /// attack
# class = "A77"
# title = "starts processes by vfork, clone, clone3 and multiprocessing"
# hope = "a list of forbidden calls may lack one"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
tried()
for name, call in {
    "vfork by posix_spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "clone": lambda: libc.syscall(56, signal.SIGCHLD, 0, 0, 0, 0),
}.items():
    try:
        child = call()
    except OSError:
        continue
    if child == 0:
        os._exit(0)
    if child > 0:
        os.waitpid(child, 0)
        got(name)
