# /// attack
# class = "A51"
# title = "writes what other programs start with"
# hope = "the next student's program may run it"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import os, pathlib
tried()
home = pathlib.Path(TARGETS["home"]).parent if "home" in TARGETS else pathlib.Path("/root")
for place in (home, pathlib.Path(TARGETS["course"]), pathlib.Path(TARGETS["tmp"])):
    try:
        (place / f".{TARGETS['mark']}-startup.py").write_text("raise SystemExit(0)")
    except OSError:
        pass
