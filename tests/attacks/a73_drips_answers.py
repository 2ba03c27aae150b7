# /// attack
# class = "A73"
# title = "sends harmless answers one by one, each just in time"
# hope = "a limit on silence is none on talk"
# parts = ["inside"]
# seconds = 150
# safe = "L2"
# contained = "L2"
# why = "only a sandbox limits all the time of a submission; a plain process has its time for each check"
# ///
import time
tried()
for check, draw in plan():
    send({"event": "begin", "exercise": __name__, "check": check, "draw": draw})
    time.sleep(12)
