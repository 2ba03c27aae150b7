# /// attack
# class = "A87"
# title = "kills every process it may"
# hope = "it may be the judge, or the instructor's own"
# safe = "L2"
# contained = "L2"
# why = "a plain process may do what its user may"
# raises = ["PermissionError"]
# ///
import os, signal
tried()
os.kill(-1, signal.SIGKILL)
