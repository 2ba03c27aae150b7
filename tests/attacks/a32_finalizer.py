# /// attack
# class = "A32"
# title = "acts when its objects are thrown away"
# hope = "that may be when a verdict is made"
# parts = ["inside"]
# ///
class Late:
    def __del__(self):
        try:
            send({"event": "done"})
        except BaseException:
            pass
KEPT = [Late()]
honest = scaled_dot_product_attention
def scaled_dot_product_attention(*args):
    tried()
    KEPT.clear()
    return honest(*args)
