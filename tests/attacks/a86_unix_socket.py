# /// attack
# class = "A86"
# title = "calls a service by a socket in the file system"
# hope = "docker.sock is one"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import socket
tried()
try:
    with socket.socket(socket.AF_UNIX) as call:
        call.connect(TARGETS["unix"])
        call.sendall(b"hello")
except OSError:
    pass
