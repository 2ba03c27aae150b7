# /// attack
# class = "A71"
# title = "never ends its import"
# hope = "waiting for it may never end"
# ///
tried()
while True:
    pass
