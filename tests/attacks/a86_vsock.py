# /// attack
# class = "A86"
# title = "calls the host of the virtual machine"
# hope = "a network namespace does not hold it"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import socket
tried()
try:
    call = socket.socket(socket.AF_VSOCK)
    got("a socket to the host")
    call.settimeout(2)
    call.connect(tuple(TARGETS.get("vsock", (1, 1))))
    call.sendall(b"hello")
except (OSError, AttributeError):
    pass
