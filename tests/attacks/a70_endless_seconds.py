# /// attack
# class = "A70"
# title = "claims to have taken longer than any number"
# hope = "the sum of two large numbers is infinite, and no JSON"
# parts = ["inside"]
# ///
tried()
for check, draw in plan():
    at = {"exercise": __name__, "check": check, "trial": draw}
    send({"event": "begin", **at})
    send({"event": "observed", **at, "value": None, "seconds": 1.7e308})
send({"event": "done"})
import os
os._exit(0)
