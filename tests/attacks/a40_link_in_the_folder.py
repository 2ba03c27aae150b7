# /// attack
# class = "A40"
# title = "hands in links to the solutions and to devices"
# hope = "a link may be followed, and its target read"
# where = "intake"
# ///
import os
def hand_in(folder, files, targets):
    own = folder / targets["student"]
    own.mkdir()
    for name, target in zip(files, (targets["solution"], "/dev/zero"), strict=True):
        (own / name).symlink_to(target)
    (own / "all").symlink_to("/")
    (own / "round").symlink_to(own)
    (own / "hard.py").hardlink_to(targets["solution"])
    os.mkfifo(own / "pipe.py")
