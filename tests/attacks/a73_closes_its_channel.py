# /// attack
# class = "A73"
# title = "closes every descriptor and sleeps"
# hope = "an end of the answers may not be an end of the process"
# seconds = 150
# ///
import os, time
def scaled_dot_product_attention(*_):
    tried()
    os.closerange(0, 4096)
    time.sleep(1e6)
