# /// attack
# class = "A84"
# title = "sends halves of surrogate pairs and zeros in every name"
# hope = "what reads it may fail, or take for ever"
# parts = ["inside"]
# ///
tried()
observe_all({"dict": {"\ud800\u0000": "\udfff\u0000", "\u202e": True}}); send({"event": "done"})
