# /// attack
# class = "A77"
# title = "starts another process"
# hope = "where one starts, many do"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import os
tried()
try:
    child = os.fork()
except OSError:
    child = None
if child == 0:
    os._exit(0)
if child:
    os.waitpid(child, 0)
    got("could fork")
