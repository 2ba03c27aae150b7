# /// attack
# class = "A82"
# title = "reads memory that is not there"
# hope = "the interpreter crashes"
# ///
import ctypes
def scaled_dot_product_attention(*_):
    tried()
    ctypes.string_at(0)
