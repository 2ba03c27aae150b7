# /// attack
# class = "A91"
# title = "makes system calls by numbers of another kind"
# hope = "a filter may know one numbering only"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
tried()
if libc.syscall(0x40000000 + 57) == 0:  # fork by its x32 number
    import os
    os._exit(0)
# int 0x80, number 20: getpid as a program of 32 bits
import mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(bytes.fromhex("53b814000000cd805bc3"))
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
if call() > 0:
    got("a system call of 32 bits")
