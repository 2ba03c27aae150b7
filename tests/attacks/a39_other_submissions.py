# /// attack
# class = "A39"
# title = "reads another student's folder and report"
# hope = "submissions lie beside each other"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
tried()
for target in ("submission", "report", "temporary", "home"):
    try:
        print(open(TARGETS[target]).read(), flush=True)
    except (OSError, KeyError):
        pass
