# /// attack
# class = "A73"
# title = "waits for a lock it holds"
# hope = "nobody will wake it"
# seconds = 150
# ///
import threading
lock = threading.Lock()
def scaled_dot_product_attention(*_):
    tried()
    lock.acquire()
    lock.acquire()
