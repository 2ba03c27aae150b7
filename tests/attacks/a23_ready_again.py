# /// attack
# class = "A23"
# title = "says again and again that the worker is ready"
# hope = "the judge may start to wait anew"
# parts = ["inside"]
# ///
tried()
for _ in range(3):
    send({"event": "ready", "torch": "0"})
