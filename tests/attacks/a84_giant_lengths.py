# /// attack
# class = "A84"
# title = "sends a frame that claims four gigabytes"
# hope = "what reads it may fail, or take for ever"
# parts = ["inside"]
# ///
tried()
write(b"CRS1" + bytes.fromhex("ffffffff") * 2 + bytes(100))
