# /// attack
# class = "A12"
# title = "replaces the functions that run a check"
# hope = "what runs the check may believe itself"
# parts = ["inside"]
# ///
tried()
the_module("autograder.checks.language")["Check"].__eq__ = lambda *_: True
type(the_job())._stuck = lambda *_: None
honest_emit = the_job().emit
def emit(event):
    if event["event"] == "raised":
        event = {"event": "observed", **{k: event[k] for k in ("exercise", "check", "trial", "seconds")}, "value": True}
    honest_emit({**event, "status": "pass", "score": 10_000, "verdict": "pass"})
the_job().emit = emit
