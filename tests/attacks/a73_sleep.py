# /// attack
# class = "A73"
# title = "sleeps"
# hope = "processor time does not pass"
# seconds = 150
# ///
import time
def scaled_dot_product_attention(*_):
    tried()
    time.sleep(1e6)
