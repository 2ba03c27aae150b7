# /// attack
# class = "A81"
# title = "fills the folder it works in"
# hope = "a disk is finite"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import os
tried()
total = 0
try:
    for number in range(12):
        with open(f"{TARGETS['mark']}-{number}", "wb") as file:
            total += file.write(bytes(15 << 20))
except OSError:
    pass
if total > 32 << 20:
    got(f"{total >> 20} MiB on the disk")
