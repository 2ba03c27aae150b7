# /// attack
# class = "A83"
# title = "leaves a process behind that nobody waits for"
# hope = "it may act when the next student is graded"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import os, time
tried()
try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(20)
        os._exit(0)
except OSError:
    pass
