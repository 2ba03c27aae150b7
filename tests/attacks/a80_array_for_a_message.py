# /// attack
# class = "A80"
# title = "raises with an array in place of a message"
# hope = "writing it out makes it four times as large"
# parts = ["inside"]
# ///
tried()
blob = bytes(range(256)) * (4 << 10)
fault = {"type": {"array": ["uint8", [len(blob)], "cpu", 0, len(blob)]}, "bases": [], "kind": "other", "tensor": None, "frames": [], "values": []}
for check, draw in plan():
    at = {"exercise": __name__, "check": check, "trial": draw}
    send({"event": "begin", **at})
    send({"event": "raised", **at, "fault": {"dict": {**fault, "message": fault["type"]}}, "seconds": 0.0}, blob)
send({"event": "done"})
import os
os._exit(0)
