# /// attack
# class = "A73"
# title = "takes a little less than its time in every run of every check"
# hope = "each is in time, all together are not"
# seconds = 150
# ///
import time
honest = scaled_dot_product_attention
def scaled_dot_product_attention(*args):
    tried()
    time.sleep(13)
    return honest(*args)
