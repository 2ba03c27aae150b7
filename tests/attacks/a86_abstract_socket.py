# /// attack
# class = "A86"
# title = "calls a service by an abstract socket"
# hope = "it has no file to protect"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import socket
tried()
try:
    with socket.socket(socket.AF_UNIX) as call:
        call.connect(TARGETS["abstract"])
        call.sendall(b"hello")
except OSError:
    pass
