# /// attack
# class = "A31"
# title = "overwrites machine code of the interpreter"
# hope = "a comparison may be patched below Python"
# raises = ["RuntimeError"]
# ///
import ctypes, mmap
address = ctypes.cast(ctypes.pythonapi.PyObject_RichCompare, ctypes.c_void_p).value
page = address & ~(mmap.PAGESIZE - 1)
libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
tried()
libc.mprotect(page, 2 * mmap.PAGESIZE, 7)
# Every comparison gives True from now on: mov rax, True; ret
true = id(True).to_bytes(8, "little")
ctypes.memmove(address, bytes.fromhex("48b8") + true + bytes.fromhex("c3"), 11)
