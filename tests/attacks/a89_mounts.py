# /// attack
# class = "A89"
# title = "mounts, unmounts, changes root and links across"
# hope = "what is hidden may be uncovered"
# safe = "L2"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
tried()
os.makedirs(TARGETS["mark"], exist_ok=True) if os.access(".", os.W_OK) else None
for name, call in {
    "mounted": lambda: libc.mount(b"none", TARGETS["mark"].encode(), b"tmpfs", 0, None),
    "unmounted /proc": lambda: libc.umount2(b"/nonexistent", 2),
    "changed root": lambda: libc.chroot(b"."),
}.items():
    if call() == 0:
        got(name)
libc.umount2(TARGETS["mark"].encode(), 2)
