# /// attack
# class = "A52"
# title = "writes into the folders modules are imported from"
# hope = "they are imported by everybody"
# parts = ["inside"]
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import pathlib
tried()
import numpy
for place in (pathlib.Path(numpy.__file__).parents[1], pathlib.Path(the_module("autograder.worker.session")["__file__"]).parents[1]):
    file = place / f"{TARGETS['mark']}.py"
    try:
        file.write_text("")
    except OSError:
        continue
    file.unlink()
    got("could write where modules are imported from")
