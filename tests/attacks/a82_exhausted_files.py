# /// attack
# class = "A82"
# title = "opens files until there are none left"
# hope = "the process can open nothing more"
# ///
import os
KEPT = []
tried()
try:
    while len(KEPT) < 100_000:
        KEPT.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
