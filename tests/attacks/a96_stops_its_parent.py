# /// attack
# class = "A96"
# title = "asks whether it may stop the process that started it"
# hope = "the judge would wait for ever"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import os
tried()
for pid in range(1, 100):
    try:
        os.kill(pid, 0)
    except OSError:
        continue
    if pid != os.getpid():
        got("could signal a process of low number")
        break
