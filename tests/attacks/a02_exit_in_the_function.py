# /// attack
# class = "A2"
# title = "exits inside the function"
# hope = "an exit status of 0 may be taken for a pass"
# ///
import os
def scaled_dot_product_attention(*_):
    tried()
    os._exit(0)
