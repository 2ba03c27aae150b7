# /// attack
# class = "A34"
# title = "looks for solutions around the folder the kit runs from"
# hope = "the kit may be run from the instructor's checkout"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import pathlib
tried()
for package in ("autograder", "autograder.worker"):
    for place in _sys.modules[package].__path__:
        for folder in pathlib.Path(place).resolve().parents:
            try:
                if list(folder.glob("solutions/*.py")):
                    got("solutions beside the kit")
            except OSError:
                pass
