# /// attack
# class = "A81"
# title = "makes more files than a disk has room for names"
# hope = "names run out before bytes do"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import os
tried()
made = 0
try:
    for number in range(5000):
        open(f"{TARGETS['mark']}-{number}", "wb").close()
        made += 1
except OSError:
    pass
if made == 5000:
    got("5000 files")
