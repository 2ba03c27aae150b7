# /// attack
# class = "A80"
# title = "raises with a message as long as a frame may be"
# hope = "the report may quote it whole"
# parts = ["inside"]
# ///
tried()
fault = {"type": "E" * 200_000, "bases": [], "message": "m" * 600_000, "kind": "other", "tensor": None, "frames": [], "values": []}
for check, draw in plan():
    at = {"exercise": __name__, "check": check, "trial": draw}
    send({"event": "begin", **at})
    send({"event": "raised", **at, "fault": {"dict": {**fault, "type": fault["type"]}}, "seconds": 0.0})
send({"event": "done"})
import os
os._exit(0)
