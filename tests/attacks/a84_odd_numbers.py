# /// attack
# class = "A84"
# title = "sends NaN, huge integers and floats that overflow"
# hope = "what reads it may fail, or take for ever"
# parts = ["inside"]
# ///
tried()
send({"event": "begin", "exercise": __name__, "check": plan()[0][0], "trial": 0}); write(frame(b'{"dict": {"event": "observed", "value": ' + b"9" * 4000 + b', "seconds": 1e999}}'))
