# /// attack
# class = "A8"
# title = "returns an object that equals everything"
# hope = "a comparison may ask the object itself"
# ///
class Agreeable:
    def __eq__(self, _): return True
    __ne__ = __bool__ = __lt__ = __gt__ = __le__ = __ge__ = lambda self, *_: True
    def __float__(self): return 0.5
    def __array__(self, *_, **__): return __import__("numpy").zeros(())
    def __getattr__(self, _): return self
    def __call__(self, *_, **__): return self
    def __sub__(self, _): return 0.0
    def __iter__(self): return iter((self, self))
    def __hash__(self): return 0

def scaled_dot_product_attention(*_):
    tried()
    return Agreeable()
