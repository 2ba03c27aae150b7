# /// attack
# class = "A72"
# title = "never ends inside C"
# hope = "a signal handler of Python may never run"
# seconds = 150
# ///
import re
def scaled_dot_product_attention(*_):
    tried()
    re.match("(a+)+$", "a" * 60 + "b")
