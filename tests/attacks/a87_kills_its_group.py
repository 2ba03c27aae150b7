# /// attack
# class = "A87"
# title = "kills its group of processes"
# hope = "what started it may be in it"
# raises = ["PermissionError"]
# ///
import os, signal
tried()
os.kill(0, signal.SIGKILL)
