# /// attack
# class = "A79"
# title = "prints a little less than is too much"
# hope = "the log goes into every report"
# ///
tried()
print("spam " * 600_000, flush=True)
