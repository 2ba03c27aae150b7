# /// attack
# class = "A23"
# title = "answers checks that do not exist"
# hope = "points may be counted by name"
# parts = ["inside"]
# ///
tried()
for number in range(20):
    at = {"exercise": __name__, "check": f"more_points_{number}", "trial": 0}
    send({"event": "begin", **at})
    send({"event": "observed", **at, "value": True, "seconds": 0.0})
