# /// attack
# class = "A23"
# title = "answers every check with true and says it is done"
# hope = "a check may be content with what is true"
# parts = ["inside"]
# ///
tried()
observe_all(True)
send({"event": "done"})
import os
os._exit(0)
