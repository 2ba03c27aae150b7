# /// attack
# class = "A40"
# title = "hands in a pipe that nobody writes to"
# hope = "reading it may wait for ever"
# where = "intake"
# ///
import os
def hand_in(folder, files, targets):
    own = folder / targets["student"]
    own.mkdir()
    for name in files:
        os.mkfifo(own / name)
