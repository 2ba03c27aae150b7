# /// attack
# class = "A71"
# title = "returns a sequence without an end"
# hope = "reading it may never end"
# ///
class Endless(list):
    def __iter__(self):
        while True:
            yield self
    def __len__(self): return 2
def scaled_dot_product_attention(*_):
    tried()
    return Endless()
def self_attention_by_hand(*_):
    return Endless()
