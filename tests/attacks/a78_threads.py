# /// attack
# class = "A78"
# title = "starts thousands of threads"
# hope = "the table of processes is finite"
# ///
import threading, time
tried()
started = 0
try:
    for _ in range(400):
        threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
        started += 1
except (RuntimeError, MemoryError):
    pass
if started >= 400:
    got("400 threads")
