# /// attack
# class = "A71"
# title = "never ends"
# hope = "waiting for it may never end"
# ///
def scaled_dot_product_attention(*_):
    tried()
    while True:
        pass
