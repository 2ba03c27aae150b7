# /// attack
# class = "A73"
# title = "stops itself"
# hope = "a stopped process does not end"
# seconds = 150
# ///
import os, signal
def scaled_dot_product_attention(*_):
    tried()
    os.kill(os.getpid(), signal.SIGSTOP)
