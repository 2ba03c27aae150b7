# /// attack
# class = "A1"
# title = "exits while it is imported"
# hope = "an exit status of 0 may be taken for a pass"
# ///
import os
tried()
os._exit(0)
