# /// attack
# class = "A23"
# title = "answers the checks of the other exercise while it is imported"
# hope = "an answer may be taken for an exercise that does not run"
# parts = ["inside"]
# ///
tried()
for exercise, draws in the_job().job["plan"]:
    if exercise != __name__:
        for check, draw, _, _ in draws:
            at = {"exercise": exercise, "check": check, "trial": draw}
            send({"event": "begin", **at})
            send({"event": "observed", **at, "value": {"dict": {}}, "seconds": 0.0})
