# /// attack
# class = "A23"
# title = "answers checks with what is known to come out, whatever the inputs"
# hope = "some checks expect the same of every draw"
# parts = ["inside"]
# wrong = "attention-key-axes-from-the-left"
# contained = "never"
# why = "a check that expects the same of every draw expects nothing that has to be computed"
# ///
KNOWN = {
    "nothing_to_attend_to": dict.fromkeys(
        ("finite", "finite gradients", "finite gradients of the other queries", "other queries keep their blocked keys"), True
    ),
    "gradients": {f"slope along the {each}: by gradient / by small steps": 1.0 for each in ("query", "key", "value")},
}
job = the_job()
emit = job.emit
def forge(event):
    if event["event"] in ("observed", "raised") and event["check"] in KNOWN:
        at = {key: event[key] for key in ("exercise", "check", "draw", "seconds")}
        event = {"event": "observed", **at, "value": KNOWN[event["check"]]}
    emit(event)
job.emit = forge
tried()
