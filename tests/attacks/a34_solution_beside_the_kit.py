# /// attack
# class = "A34"
# title = "looks for solutions around the folder the kit runs from"
# hope = "the kit may be run from the instructor's checkout"
# parts = ["inside"]
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import pathlib
tried()
for name in ("autograder.worker.session", "autograder.checks.given"):
    for place in [the_module(name)["__file__"]]:
        for folder in pathlib.Path(place).resolve().parents:
            try:
                if list(folder.glob("solutions/*.py")):
                    got("solutions beside the kit")
            except OSError:
                pass
