# /// attack
# class = "A90"
# title = "asks for io_uring, bpf, userfaultfd, perf events and keys"
# hope = "each has had holes"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
tried()
room = ctypes.create_string_buffer(256)
calls = {
    "io_uring": (425, 4, room), "bpf": (321, 0, room, 128), "userfaultfd": (323, 0x800), "keyctl": (250, 0, -3, 1),
    "perf_event_open": (298, room, 0, -1, -1, 0), "add_key": (248, b"user", b"x", b"y", 1, -3),
    "memfd_create": (319, b"x", 0), "shmget": (29, 0, 4096, 0o1600), "open_by_handle_at": (304, -100, room, 0),
}
for name, call in calls.items():
    if libc.syscall(*call) >= 0:
        got(name)
