# /// attack
# class = "A39"
# title = "reads the answer key and sends it back"
# hope = "what is expected may lie in a cache"
# parts = ["inside"]
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import pathlib
files = [*pathlib.Path(TARGETS["cache"]).glob(f"{__name__}-*.reference")]
tried()
FrameLimits, read_frame = (the_module("autograder.worker.session")[name] for name in ("FrameLimits", "read_frame"))
for file in files:
    data = file.read_bytes()
    start = data.find(b"CRS1")
    got("the answer key")
    with file.open("rb") as stream:
        stream.seek(start)
        record = read_frame(stream.read, FrameLimits(text=64 << 20, blob=512 << 20, nodes=1_000_000))
    outcomes = record["reference"] if "reference" in record else record
    answers = {(entry[0], entry[1]): entry[2] for entry in outcomes}
    emit = the_job().emit
    def forge(event):
        key = event.get("check"), event.get("trial")
        if event["event"] in ("observed", "raised") and key in answers:
            event = {"event": "observed", "value": answers[key], "seconds": 0.0, "exercise": __name__, "check": key[0], "trial": key[1]}
        emit(event)
    the_job().emit = forge
    break
