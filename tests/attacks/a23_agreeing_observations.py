# /// attack
# class = "A23"
# title = "sends the second of two ways to the same numbers twice"
# hope = "a check that is content where a program agrees with itself believes what is sent"
# parts = ["inside"]
# wrong = "attention-softmax-overflows"
# contained = "never"
# why = "what is right for the inputs is right by whatever way it was computed: the other way need not have been taken"
# ///
job = the_job()
emit = job.emit
def agreeing(value):
    if isinstance(value, dict):
        return {name: agreeing(part) for name, part in value.items()}
    if isinstance(value, list) and len(value) == 2 and all(hasattr(part, "data") for part in value):
        return [value[1], value[1]] if value[0].dtype == value[1].dtype and value[0].device == value[1].device else value
    return value
def forge(event):
    if event["event"] == "observed":
        event = {**event, "value": agreeing(event["value"])}
    emit(event)
job.emit = forge
tried()
