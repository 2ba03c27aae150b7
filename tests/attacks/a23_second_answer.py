# /// attack
# class = "A23"
# title = "answers a check twice: wrong by the function, right by a frame"
# hope = "the last answer may count"
# parts = ["inside"]
# ///
honest = scaled_dot_product_attention
def scaled_dot_product_attention(*args):
    tried()
    frame = frame_of("_trial")
    send({"event": "observed", **frame.f_locals["where"], "value": {"dict": {"weights": 1.0}}, "seconds": 0.0})
    return honest(*args)
