# /// attack
# class = "A23"
# title = "sends numbers known before: nothing differs, all is finite, all is 1"
# hope = "some checks expect the same of every trial"
# parts = ["inside"]
# wrong = "attention-mask-fill-infinite"
# ///
job = the_job()
emit = job.emit
def expect_keys(value, number):
    if hasattr(value, "data"):
        width = len(value.data) // max(1, __import__("math").prod(value.shape))
        one = {2: b"\x80\x3f" if value.dtype == "bfloat16" else b"\x00\x3c", 4: _struct.pack("<f", 1), 8: _struct.pack("<d", 1)}
        same = one.get(width, b"\x01") if number else bytes(width)
        return type(value)(value.dtype, value.shape, same * (len(value.data) // width), value.device)
    if isinstance(value, dict):
        return {name: known(part, number) for name, part in value.items()}
    if isinstance(value, list):
        return [known(part, number) for part in value]
    return True if isinstance(value, bool) else float(number) if isinstance(value, float) else value
def forge(event):
    if event["event"] == "observed" and event["check"] == "nothing_to_attend_to":
        event = {**event, "value": known(event["value"], event["trial"])}
    emit(event)
job.emit = forge
tried()
