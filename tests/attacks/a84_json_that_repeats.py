# /// attack
# class = "A84"
# title = "sends the same key a thousand times, and a constant that is no JSON"
# hope = "what reads it may fail, or take for ever"
# parts = ["inside"]
# ///
tried()
write(frame(b'{"dict": {' + b'"event": "done", ' * 1000 + b'"event": NaN}}'))
