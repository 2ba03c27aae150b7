# /// attack
# class = "A23"
# title = "says that all is done before anything was"
# hope = "what was not answered may count as right"
# parts = ["inside"]
# ///
tried()
send({"event": "done"})
import os
os._exit(0)
