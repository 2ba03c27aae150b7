# /// attack
# class = "A21"
# title = "opens the checks and the solutions for writing"
# hope = "checks may be read again for the next student"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import os, pathlib
tried()
for file in pathlib.Path(TARGETS["course"]).rglob("*.py"):
    try:
        os.close(os.open(file, os.O_WRONLY))
    except OSError:
        continue
    got("could write to the checks")
    break
