# /// attack
# class = "A89"
# title = "changes its user, its groups and its capabilities"
# hope = "a grader that runs as root can be any user"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import os
tried()
for name, call in {"user": lambda: os.setuid(65534), "group": lambda: os.setgroups([1])}.items():
    try:
        call()
    except OSError:
        continue
    got(f"changed its {name}")
