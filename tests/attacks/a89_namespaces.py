# /// attack
# class = "A89"
# title = "makes namespaces of its own"
# hope = "in them it is root"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
tried()
for name, flag in {"user": 0x10000000, "mount": 0x20000, "net": 0x40000000, "pid": 0x20000000}.items():
    if libc.unshare(flag) == 0:
        got(f"a {name} namespace")
