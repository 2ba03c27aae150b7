# /// attack
# class = "A84"
# title = "sends a frame of as many parts as fit"
# hope = "what reads it may fail, or take for ever"
# parts = ["inside"]
# ///
tried()
observe_all([0] * 19_000)
