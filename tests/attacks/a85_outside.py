# /// attack
# class = "A85"
# title = "opens sockets of every family"
# hope = "a family may have been forgotten"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import socket
tried()
for name in ("AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_ALG", "AF_BLUETOOTH", "AF_CAN", "AF_TIPC"):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(getattr(socket, name, -1), kind).close()
        except OSError:
            continue
        got(f"a socket of {name}")
        break
