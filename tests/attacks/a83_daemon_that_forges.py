# /// attack
# class = "A83"
# title = "leaves a process behind that answers for it"
# hope = "the channel may still be open"
# parts = ["inside"]
# ///
import os, time
tried()
try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for _ in range(50):
                time.sleep(0.1)
                try:
                    send({"event": "done"})
                except BaseException:
                    break
        os._exit(0)
except OSError:
    pass
