# /// attack
# class = "A92"
# title = "sends places whose names are control sequences"
# hope = "a terminal obeys them"
# parts = ["inside"]
# ///
EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\r"
tried()
fault = {"type": EVIL, "bases": [EVIL], "message": EVIL, "kind": "other", "tensor": EVIL,
         "frames": {"list": 0}, "values": []}
for check, draw in plan():
    at = {"exercise": __name__, "check": check, "trial": draw}
    send({"event": "begin", **at})
    place = {"dict": {"file": f"{__name__}.py{EVIL}", "line": 3, "function": EVIL, "column": 0, "end": 10**9}}
    report = {"dict": {**fault, "frames": [place], "values": [[EVIL, EVIL, EVIL]]}}
    send({"event": "raised", **at, "fault": report, "seconds": 0.0})
send({"event": "done"})
import os
os._exit(0)
