# /// attack
# class = "A84"
# title = "sends half a frame"
# hope = "what reads it may fail, or take for ever"
# parts = ["inside"]
# ///
tried()
write(frame({"dict": {"event": "loaded"}})[:-5]); import os; os._exit(0)
