# /// attack
# class = "A84"
# title = "sends a frame nested ten thousand deep"
# hope = "what reads it may fail, or take for ever"
# parts = ["inside"]
# ///
tried()
write(frame(b"[" * 10_000 + b"]" * 10_000))
