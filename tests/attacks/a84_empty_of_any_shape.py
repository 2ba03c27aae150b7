# /// attack
# class = "A84"
# title = "sends an empty array of a shape that NumPy cannot hold"
# hope = "what reads it may fail, or take for ever"
# parts = ["inside"]
# ///
tried()
observe_all({"dict": {"queries": {"array": ["float32", [0, 1 << 40, 1 << 40], "cpu", 0, 0]}, "weights": {"array": ["float32", [0, 1 << 40, 1 << 40], "cpu", 0, 0]}}}); send({"event": "done"})
