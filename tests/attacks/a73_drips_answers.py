# /// attack
# class = "A73"
# title = "sends harmless answers one by one, each just in time"
# hope = "a limit on silence is none on talk"
# parts = ["inside"]
# seconds = 150
# ///
import time
tried()
for check, draw in plan():
    send({"event": "begin", "exercise": __name__, "check": check, "trial": draw})
    time.sleep(12)
