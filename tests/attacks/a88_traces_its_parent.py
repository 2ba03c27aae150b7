# /// attack
# class = "A88"
# title = "attaches to the process that started it"
# hope = "a debugger reads and writes all"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
tried()
parent = os.getppid()
if parent > 1 and libc.ptrace(0x4206, parent, 0, 0) == 0:  # PTRACE_SEIZE: it is not even stopped
    got("traced the process that started this one")
    libc.ptrace(17, parent, 0, 0)
