# /// attack
# class = "A85"
# title = "calls home by UDP"
# hope = "a firewall for TCP is none for UDP"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import socket
tried()
try:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as call:
        call.sendto(b"hello", TARGETS["udp"])
except OSError:
    pass
