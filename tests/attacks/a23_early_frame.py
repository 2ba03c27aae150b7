# /// attack
# class = "A23"
# title = "answers a check before it has begun"
# hope = "an answer may be taken as it comes"
# parts = ["inside"]
# ///
tried()
for check, draw in plan():
    send({"event": "observed", "exercise": __name__, "check": check, "trial": draw, "value": True, "seconds": 0.0})
