# /// attack
# class = "A84"
# title = "sends an array whose shape and bytes disagree"
# hope = "what reads it may fail, or take for ever"
# parts = ["inside"]
# ///
tried()
observe_all({"array": ["float32", [1 << 24, 1 << 24], "cpu", 0, 4]}, bytes(4))
