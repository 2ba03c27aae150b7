# /// attack
# class = "A80"
# title = "returns as much as just goes through, in every check"
# hope = "the judge holds them all"
# parts = ["inside"]
# ///
import os
tried()
blob = os.urandom(15 << 20)
for check, draw in plan():
    at = {"exercise": __name__, "check": check, "trial": draw}
    send({"event": "begin", **at})
    send({"event": "observed", **at, "value": {"dict": {"weights": {"array": ["uint8", [len(blob)], "cpu", 0, len(blob)]}}}, "seconds": 0.0}, blob)
